/* SPDX-License-Identifier: MIT */
/*
 * OpenSSL, loaded by the first TLS context: for programs that speak no TLS, relocating it took
 * three times as long as all else at their start. Included in place of OpenSSL's own headers, whose
 * functions then go by pointers: those below and no others.
 */
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include "base/library.h"

#define CHI_OPENSSL(CALL)                                                                          \
	CALL(BIO_clear_flags)                                                                      \
	CALL(BIO_free)                                                                             \
	CALL(BIO_get_data)                                                                         \
	CALL(BIO_meth_free)                                                                        \
	CALL(BIO_meth_new)                                                                         \
	CALL(BIO_meth_set_create)                                                                  \
	CALL(BIO_meth_set_ctrl)                                                                    \
	CALL(BIO_meth_set_read)                                                                    \
	CALL(BIO_meth_set_write)                                                                   \
	CALL(BIO_new)                                                                              \
	CALL(BIO_new_file)                                                                         \
	CALL(BIO_set_data)                                                                         \
	CALL(BIO_set_flags)                                                                        \
	CALL(BIO_set_init)                                                                         \
	CALL(ERR_clear_error)                                                                      \
	CALL(ERR_peek_error)                                                                       \
	CALL(ERR_reason_error_string)                                                              \
	CALL(OPENSSL_sk_new_null)                                                                  \
	CALL(OPENSSL_sk_num)                                                                       \
	CALL(OPENSSL_sk_pop_free)                                                                  \
	CALL(OPENSSL_sk_push)                                                                      \
	CALL(OPENSSL_sk_shift)                                                                     \
	CALL(OPENSSL_sk_value)                                                                     \
	CALL(PEM_read_bio_X509_AUX)                                                                \
	CALL(SSL_CTX_add_client_CA)                                                                \
	CALL(SSL_CTX_check_private_key)                                                            \
	CALL(SSL_CTX_ctrl)                                                                         \
	CALL(SSL_CTX_free)                                                                         \
	CALL(SSL_CTX_get_cert_store)                                                               \
	CALL(SSL_CTX_new)                                                                          \
	CALL(SSL_CTX_set_default_passwd_cb)                                                        \
	CALL(SSL_CTX_set_default_verify_paths)                                                     \
	CALL(SSL_CTX_set_num_tickets)                                                              \
	CALL(SSL_CTX_set_verify)                                                                   \
	CALL(SSL_CTX_use_PrivateKey_file)                                                          \
	CALL(SSL_CTX_use_certificate)                                                              \
	CALL(SSL_ctrl)                                                                             \
	CALL(SSL_do_handshake)                                                                     \
	CALL(SSL_free)                                                                             \
	CALL(SSL_get0_param)                                                                       \
	CALL(SSL_get_error)                                                                        \
	CALL(SSL_get_verify_result)                                                                \
	CALL(SSL_is_init_finished)                                                                 \
	CALL(SSL_new)                                                                              \
	CALL(SSL_read)                                                                             \
	CALL(SSL_set1_host)                                                                        \
	CALL(SSL_set_accept_state)                                                                 \
	CALL(SSL_set_bio)                                                                          \
	CALL(SSL_set_connect_state)                                                                \
	CALL(SSL_set_hostflags)                                                                    \
	CALL(SSL_set_msg_callback)                                                                 \
	CALL(SSL_shutdown)                                                                         \
	CALL(SSL_write)                                                                            \
	CALL(TLS_client_method)                                                                    \
	CALL(TLS_server_method)                                                                    \
	CALL(X509_STORE_add_cert)                                                                  \
	CALL(X509_VERIFY_PARAM_set1_ip_asc)                                                        \
	CALL(X509_free)                                                                            \
	CALL(X509_verify_cert_error_string)

struct chi_openssl {
	CHI_OPENSSL(CHI_LIBRARY_MEMBER)
};

/* Filled by chi_tls_context. */
extern struct chi_openssl chi_openssl;

#define BIO_clear_flags			 chi_openssl.BIO_clear_flags
#define BIO_free			 chi_openssl.BIO_free
#define BIO_get_data			 chi_openssl.BIO_get_data
#define BIO_meth_free			 chi_openssl.BIO_meth_free
#define BIO_meth_new			 chi_openssl.BIO_meth_new
#define BIO_meth_set_create		 chi_openssl.BIO_meth_set_create
#define BIO_meth_set_ctrl		 chi_openssl.BIO_meth_set_ctrl
#define BIO_meth_set_read		 chi_openssl.BIO_meth_set_read
#define BIO_meth_set_write		 chi_openssl.BIO_meth_set_write
#define BIO_new				 chi_openssl.BIO_new
#define BIO_new_file			 chi_openssl.BIO_new_file
#define BIO_set_data			 chi_openssl.BIO_set_data
#define BIO_set_flags			 chi_openssl.BIO_set_flags
#define BIO_set_init			 chi_openssl.BIO_set_init
#define ERR_clear_error			 chi_openssl.ERR_clear_error
#define ERR_peek_error			 chi_openssl.ERR_peek_error
#define ERR_reason_error_string		 chi_openssl.ERR_reason_error_string
#define OPENSSL_sk_new_null		 chi_openssl.OPENSSL_sk_new_null
#define OPENSSL_sk_num			 chi_openssl.OPENSSL_sk_num
#define OPENSSL_sk_pop_free		 chi_openssl.OPENSSL_sk_pop_free
#define OPENSSL_sk_push			 chi_openssl.OPENSSL_sk_push
#define OPENSSL_sk_shift		 chi_openssl.OPENSSL_sk_shift
#define OPENSSL_sk_value		 chi_openssl.OPENSSL_sk_value
#define PEM_read_bio_X509_AUX		 chi_openssl.PEM_read_bio_X509_AUX
#define SSL_CTX_add_client_CA		 chi_openssl.SSL_CTX_add_client_CA
#define SSL_CTX_check_private_key	 chi_openssl.SSL_CTX_check_private_key
#define SSL_CTX_ctrl			 chi_openssl.SSL_CTX_ctrl
#define SSL_CTX_free			 chi_openssl.SSL_CTX_free
#define SSL_CTX_get_cert_store		 chi_openssl.SSL_CTX_get_cert_store
#define SSL_CTX_new			 chi_openssl.SSL_CTX_new
#define SSL_CTX_set_default_passwd_cb	 chi_openssl.SSL_CTX_set_default_passwd_cb
#define SSL_CTX_set_default_verify_paths chi_openssl.SSL_CTX_set_default_verify_paths
#define SSL_CTX_set_num_tickets		 chi_openssl.SSL_CTX_set_num_tickets
#define SSL_CTX_set_verify		 chi_openssl.SSL_CTX_set_verify
#define SSL_CTX_use_PrivateKey_file	 chi_openssl.SSL_CTX_use_PrivateKey_file
#define SSL_CTX_use_certificate		 chi_openssl.SSL_CTX_use_certificate
#define SSL_ctrl			 chi_openssl.SSL_ctrl
#define SSL_do_handshake		 chi_openssl.SSL_do_handshake
#define SSL_free			 chi_openssl.SSL_free
#define SSL_get0_param			 chi_openssl.SSL_get0_param
#define SSL_get_error			 chi_openssl.SSL_get_error
#define SSL_get_verify_result		 chi_openssl.SSL_get_verify_result
#define SSL_is_init_finished		 chi_openssl.SSL_is_init_finished
#define SSL_new				 chi_openssl.SSL_new
#define SSL_read			 chi_openssl.SSL_read
#define SSL_set1_host			 chi_openssl.SSL_set1_host
#define SSL_set_accept_state		 chi_openssl.SSL_set_accept_state
#define SSL_set_bio			 chi_openssl.SSL_set_bio
#define SSL_set_connect_state		 chi_openssl.SSL_set_connect_state
#define SSL_set_hostflags		 chi_openssl.SSL_set_hostflags
#define SSL_set_msg_callback		 chi_openssl.SSL_set_msg_callback
#define SSL_shutdown			 chi_openssl.SSL_shutdown
#define SSL_write			 chi_openssl.SSL_write
#define TLS_client_method		 chi_openssl.TLS_client_method
#define TLS_server_method		 chi_openssl.TLS_server_method
#define X509_STORE_add_cert		 chi_openssl.X509_STORE_add_cert
#define X509_VERIFY_PARAM_set1_ip_asc	 chi_openssl.X509_VERIFY_PARAM_set1_ip_asc
#define X509_free			 chi_openssl.X509_free
#define X509_verify_cert_error_string	 chi_openssl.X509_verify_cert_error_string
