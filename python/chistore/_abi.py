# SPDX-License-Identifier: MIT
"""The C interface as ctypes sees it. Made from the C headers by make_abi.py: do not edit."""

from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_float,
                    c_int, c_int8, c_int16, c_int32, c_int64, c_size_t, c_uint, c_uint8, c_uint16,
                    c_uint32, c_uint64, c_void_p, sizeof)


class Sized(Structure):
    """What the library reads begins with its size (chistore/types.h)."""

    def __init__(self, *values, **fields):
        super().__init__(*values, **fields)
        self.size = sizeof(self)

CHI_IMPORT_ADD = 1
CHI_IMPORT_SUBTRACT = 2
CHI_IMPORT_MERGE = 3
CHI_IMPORT_LOAD = 4
CHI_IMPORT_PUT = 5
CHI_FORMAT_AUTO = 0
CHI_FORMAT_EPD = 1
CHI_FORMAT_CSV = 2
CHI_FORMAT_TSV = 3
CHI_FORMAT_JSONL = 4
CHI_FORMAT_PGN = 5
CHI_FORMAT_POLYGLOT = 6
CHI_FORMAT_LICHESS = 7
CHI_FORMAT_CDB = 8
CHI_FORMAT_EXP = 9
CHI_FORMAT_MAX = 9
CHI_OK = 0
CHI_NONE = 1
CHI_EINVAL = 1
CHI_EFEN = 2
CHI_EKEY = 3
CHI_EMOVE = 4
CHI_ESYNTAX = 5
CHI_ETOOBIG = 6
CHI_ENOMEM = 7
CHI_EIO = 8
CHI_EFULL = 9
CHI_ENOSTORE = 10
CHI_EEXIST = 11
CHI_EVERSION = 12
CHI_ECORRUPT = 13
CHI_EACCES = 14
CHI_EREADONLY = 15
CHI_EBUSY = 16
CHI_ENETFS = 17
CHI_EFORK = 18
CHI_ECONNECT = 19
CHI_ETIMEOUT = 20
CHI_EPROTO = 21
CHI_EUNSUPPORTED = 22
CHI_ECANCELED = 23
CHI_EINTERNAL = 24
CHI_EFORGOTTEN = 25
CHI_ESTALE = 26
CHI_ERROR_COUNT = 27
CHI_FAULT_SIZE = 256
CHI_KEY_MIN = 9
CHI_KEY_MAX = 24
CHI_FEN_SIZE = 128
CHI_FEN_INPUT_MAX = 128
CHI_CHI2_UNKNOWN = 0
CHI_CHI2_MAX = 25599
CHI_STATISTIC_EXTERNAL = 1
CHI_STATISTIC_CONTROL = 2
CHI_STATISTIC_OUTCOME = 3
CHI_STATISTIC_SCORE = 4
CHI_STATISTIC_EVAL = 5
CHI_STATISTIC_PERFORMANCE = 6
CHI_STATISTIC_MAX = 6
CHI_KEEP_GAMES = 0
CHI_KEEP_COUNTS = 1
CHI_EVAL_EVEN = 12800
CHI_EVAL_CP_MAX = 12600
CHI_EVAL_MATE_MAX = 198
CHI_PERFORMANCE_EVEN = 12800
CHI_PERFORMANCE_GAMES = 5
CHI_PLY_MAX = 4096
CHI_ENGINE_MAX = 64
CHI_PV_MAX = 256
CHI_LINE_MAX = 1024
CHI_NOTE_MAX = 65536
CHI_EVALS_MAX = 64
CHI_MOVES_MAX = 256
CHI_SCORE_MAX = 1000000
CHI_MATE_MAX = 10000
CHI_RANK_MAX = 63
CHI_PUT_CHI2 = 1
CHI_PUT_COUNTS = 2
CHI_PUT_ADD = 4
CHI_PUT_MOVES = 8
CHI_PUT_LINE = 16
CHI_PUT_NOTE = 32
CHI_PUT_EVALS = 64
CHI_PUT_RESTORE = 128
CHI_PUT_SUBTRACT = 256
CHI_PUT_DROP_EVALS = 512
CHI_SYNC = 0
CHI_ASYNC = 1
CHI_RESULT_WHITE = 0
CHI_RESULT_DRAW = 1
CHI_RESULT_BLACK = 2
CHI_RESULT_OTHER = 3
CHI_SOURCE_SIZE = 256
CHI_IMPORT_MEMORY_DEFAULT = 536870912
CHI_IMPORT_MEMORY_MIN = 16777216
CHI_SIDE_ANY = 0
CHI_SIDE_WHITE = 1
CHI_SIDE_BLACK = 2
CHI_SHARE_MAX = 10000
CHI_ORDER_STRENGTH = 0
CHI_ORDER_POSITION = 1
CHI_SORT_NONE = 0
CHI_SORT_GAMES = 1
CHI_SORT_SCORE = 2
CHI_SORT_EVAL = 3
CHI_SORT_GAP = 4
CHI_SORT_MAX = 10000
CHI_WANT_KEYS = 0
CHI_WANT_COUNTS = 1
CHI_WANT_RECORDS = 2
CHI_BEST_NONE = 0
CHI_BEST_EVAL = 1
CHI_BEST_LINE = 2
CHI_BEST_PLAYED = 3
CHI_READ_ONLY_NOT = 0
CHI_READ_ONLY_PUBLISHED = 1
CHI_READ_ONLY_SERVER = 2
CHI_READ_ONLY_CRASHES = 3
CHI_READ_ONLY_DISK = 4
CHI_READ_ONLY_MEDIA = 5
CHI_BACKUP_STORE = 0
CHI_BACKUP_PUBLISHED = 1
CHI_BACKUP_VERIFIED = 2
CHI_GAME_ID_SIZE = 16
CHI_NAME_PLAYER = 1
CHI_NAME_EVENT = 2
CHI_NAME_SITE = 3
CHI_NAME_SOURCE = 4
CHI_NAME_KINDS = 5
CHI_TITLE_NONE = 0
CHI_TITLE_GM = 1
CHI_TITLE_IM = 2
CHI_TITLE_FM = 3
CHI_TITLE_CM = 4
CHI_TITLE_WGM = 5
CHI_TITLE_WIM = 6
CHI_TITLE_WFM = 7
CHI_TITLE_WCM = 8
CHI_TITLE_NM = 9
CHI_TITLE_WNM = 10
CHI_TITLE_LM = 11
CHI_TITLE_BOT = 12
CHI_TITLE_OTHER = 13
CHI_TITLES = 14
CHI_SPEED_UNKNOWN = 0
CHI_SPEED_BULLET = 1
CHI_SPEED_BLITZ = 2
CHI_SPEED_RAPID = 3
CHI_SPEED_CLASSICAL = 4
CHI_SPEED_CORRESPONDENCE = 5
CHI_SPEED_ULTRABULLET = 6
CHI_SPEEDS = 7
CHI_GAME_ELO_MAX = 65535
CHI_ECO_CODES = 500
CHI_GAMES_NUMBER = 0
CHI_GAMES_DATE = 1
CHI_GAMES_RATING = 2
CHI_GAMES_SORT_MAX = 10000
CHI_GAMES_CURSOR_SIZE = 32
CHI_GAMES_HEADS = 0
CHI_GAMES_TEXTS = 1
CHI_GAMES_PGN = 2
CHI_GAME_HEADS_MAX = 1000
CHI_NAMES_MAX = 10000
CHI_NAME_CHANGES_MAX = 10000
CHI_NAME_JOIN = 1
CHI_NAME_PART = 2
CHI_NAME_CORRECT = 3
CHI_NAME_FIDE = 4
CHI_STATS_YEAR = 0
CHI_STATS_RATING = 1
CHI_STATS_ECO = 2
CHI_STATS_OPENING = 3
CHI_STATS_LENGTH = 4
CHI_STATS_SPEED = 5
CHI_STATS_EVENT = 6
CHI_STATS_SITE = 7
CHI_STATS_SOURCE = 8
CHI_STATS_PLAYER = 9
CHI_STATS_WHITE = 10
CHI_STATS_BLACK = 11
CHI_STATS_PIECES = 12
CHI_STATS_MATERIAL = 13
CHI_STATS_ENDGAME = 14
CHI_STATS_KINDS = 15
CHI_STATS_POINT = 10000
CHI_STATS_BEYOND_MAX = 1000000
CHI_TWINS_BEGINNING = 1
CHI_TWINS_NAMES = 2
CHI_TWINS_DATES = 4
CHI_INSIGHT_WEAK = 0
CHI_INSIGHT_STRONG = 1
CHI_INSIGHT_NOVELTIES = 2
CHI_INSIGHT_TEMPO = 3
CHI_INSIGHT_PERFORMANCE = 4
CHI_INSIGHT_DRIFT = 5
CHI_INSIGHT_GAP = 6
CHI_INSIGHT_SPREAD = 7
CHI_INSIGHTS = 8
CHI_INSIGHT_POINT = 10000
CHI_INSIGHT_CHANCE = 1000000000
CHI_INSIGHT_YEARS_MAX = 1000
CHI_INSIGHT_GAMES_MAX = 65536
CHI_INSIGHT_FEWEST = 5
CHI_INSIGHT_SPREADS_MAX = 10000
CHI_INSIGHT_UNKNOWN = 4294967295
CHI_INSIGHT_LOSS_MAX = 2000000
CHI_QUEUE_MAX = 1000000
CHI_QUEUE_BATCH_MAX = 4096
CHI_QUEUE_HOLDER_MAX = 64
CHI_QUEUE_TRIES = 5
CHI_QUEUE_LEASE_MAX = 604800000
CHI_QUEUE_WAITING = 1
CHI_QUEUE_LEASED = 2
CHI_QUEUE_FAILED = 3
CHI_QUEUE_DONE = 1
CHI_QUEUE_RELEASE = 2
CHI_QUEUE_FAIL = 3
CHI_QUEUE_EXTEND = 4
CHI_QUEUE_DROP = 5
CHI_NO_REPEAT = 4294967295
CHI_SHARDS_MAX = 65536
CHI_HOLD_MS_MAX = 10000
CHI_PREFETCH_MAX = 64
CHI_MOVE_TEXT_SIZE = 12
CHI_STATE_CHECK = 1
CHI_STATE_CHECKMATE = 2
CHI_STATE_STALEMATE = 4
CHI_STATE_INSUFFICIENT = 8
CHI_MOVES_UCI = 1
CHI_MOVES_SAN = 2
CHI_MOVES_KEYS = 4
CHI_MOVE_CAPTURE = 1
CHI_MOVE_EN_PASSANT = 2
CHI_MOVE_CASTLING = 4
CHI_MOVE_PROMOTION = 8
CHI_MOVE_CHECK = 16
CHI_LEGAL_MAX = 864
CHI_CHI2_TEXT_SIZE = 8


class chi_fault(Structure):
    pass


class chi_key(Structure):
    pass


class chi_expectation(Structure):
    pass


class chi_counts(Structure):
    pass


class chi_move_stat(Structure):
    pass


class chi_ply_stat(Structure):
    pass


class chi_eval(Structure):
    pass


class chi_record(Structure):
    pass


class chi_put_entry(Structure):
    pass


class chi_put_result(Structure):
    pass


class chi_range(Structure):
    pass


class chi_import_note(Structure):
    pass


class chi_import_options(Sized):
    pass


class chi_import_result(Structure):
    pass


class chi_material(Structure):
    pass


class chi_evidence(Structure):
    pass


class chi_filter(Structure):
    pass


class chi_cursor(Structure):
    pass


class chi_scan_spec(Sized):
    pass


class chi_row(Structure):
    pass


class chi_explore_move(Structure):
    pass


class chi_explored(Structure):
    pass


class chi_disk_check(Structure):
    pass


class chi_info(Structure):
    pass


class chi_verify_result(Structure):
    pass


class chi_repair_result(Structure):
    pass


class chi_game_id(Structure):
    pass


class chi_game_head(Structure):
    pass


class chi_tag(Structure):
    pass


class chi_game(Structure):
    pass


class chi_posting(Structure):
    pass


class chi_client(Structure):
    pass


class chi_rows(Structure):
    pass


class chi_game_spec(Sized):
    pass


class chi_game_row(Structure):
    pass


class chi_name_row(Structure):
    pass


class chi_names_spec(Sized):
    pass


class chi_names(Structure):
    pass


class chi_name_suspects(Structure):
    pass


class chi_suspect_groups(Structure):
    pass


class chi_suspects_spec(Sized):
    pass


class chi_name_change(Structure):
    pass


class chi_names_changed(Structure):
    pass


class chi_gameset_row(Structure):
    pass


class chi_gamesets(Structure):
    pass


class chi_stats_spec(Sized):
    pass


class chi_stats_group(Structure):
    pass


class chi_stats_result(Structure):
    pass


class chi_twin_spec(Sized):
    pass


class chi_twin_group(Structure):
    pass


class chi_twin_groups(Structure):
    pass


class chi_insight_spec(Sized):
    pass


class chi_insight_opinion(Structure):
    pass


class chi_insight_row(Structure):
    pass


class chi_insight_result(Structure):
    pass


class chi_queue_row(Structure):
    pass


class chi_queue_counts(Structure):
    pass


class chi_queue_added(Structure):
    pass


class chi_queue_take_spec(Sized):
    pass


class chi_queue_lease(Structure):
    pass


class chi_queue_page(Structure):
    pass


class chi_import(Structure):
    pass


class chi_prober(Structure):
    pass


class chi_options(Sized):
    pass


class chi_rows_place(Structure):
    pass


class chi_board(Structure):
    pass


class chi_prober_options(Sized):
    pass


class chi_legal_move(Structure):
    pass


chi_import_report = CFUNCTYPE(None, c_void_p, POINTER(chi_import_note))
chi_import_progress = CFUNCTYPE(None, c_void_p, c_char_p, c_uint64, c_uint64)
chi_verify_report = CFUNCTYPE(None, c_void_p, c_char_p)
chi_name_conflict = CFUNCTYPE(None, c_void_p, c_size_t, c_char_p)
chi_get_each = CFUNCTYPE(c_int, c_void_p, c_size_t, POINTER(chi_record))
chi_progress = CFUNCTYPE(c_int, c_void_p, c_uint)
chi_fault._fields_ = [
    ("text", c_char * 256),
]
chi_key._fields_ = [
    ("len", c_uint8),
    ("bytes", c_uint8 * 24),
]
chi_expectation._fields_ = [
    ("games", c_uint64),
    ("move", c_int64),
    ("scale", c_uint64),
    ("spread", c_uint64),
]
chi_counts._fields_ = [
    ("white", c_uint64),
    ("draws", c_uint64),
    ("black", c_uint64),
    ("other", c_uint64),
]
chi_move_stat._fields_ = [
    ("move", c_uint16),
    ("counts", chi_counts),
]
chi_ply_stat._fields_ = [
    ("ply", c_uint16),
    ("games", c_uint64),
]
chi_eval._fields_ = [
    ("engine", c_char_p),
    ("engine_len", c_size_t),
    ("depth", c_uint32),
    ("is_mate", c_bool),
    ("rank", c_uint8),
    ("score", c_int32),
    ("nodes", c_uint64),
    ("date", c_uint64),
    ("pv", POINTER(c_uint16)),
    ("n_pv", c_size_t),
]
chi_record._fields_ = [
    ("chi2", c_uint16),
    ("counts", chi_counts),
    ("moves", POINTER(chi_move_stat)),
    ("n_moves", c_size_t),
    ("plies", POINTER(chi_ply_stat)),
    ("n_plies", c_size_t),
    ("evals", POINTER(chi_eval)),
    ("n_evals", c_size_t),
    ("line", POINTER(c_uint16)),
    ("n_line", c_size_t),
    ("note", c_char_p),
    ("n_note", c_size_t),
]
chi_put_entry._fields_ = [
    ("key", chi_key),
    ("parts", c_uint32),
    ("record", chi_record),
]
chi_put_result._fields_ = [
    ("added", c_uint64),
    ("updated", c_uint64),
    ("unchanged", c_uint64),
    ("removed", c_uint64),
]
chi_range._fields_ = [
    ("set", c_bool),
    ("min", c_uint16),
    ("max", c_uint16),
]
chi_import_note._fields_ = [
    ("file", c_char_p),
    ("game", c_uint64),
    ("line", c_uint64),
    ("text", c_char_p),
]
chi_import_options._fields_ = [
    ("size", c_size_t),
    ("kind", c_int),
    ("max_ply", c_uint32),
    ("games_min", c_uint64),
    ("strict", c_bool),
    ("skip_known", c_bool),
    ("count_twice", c_bool),
    ("verbose", c_bool),
    ("evals", c_bool),
    ("filter", c_char_p),
    ("bare", c_bool),
    ("source", c_char * 256),
    ("keep", c_int),
    ("format", c_int),
    ("engine", c_char * 65),
    ("add", c_bool),
    ("unplayed", c_bool),
    ("memory", c_uint64),
    ("threads", c_uint),
    ("report", chi_import_report),
    ("progress", chi_import_progress),
    ("context", c_void_p),
    ("cancel", POINTER(c_int)),
]
chi_import_result._fields_ = [
    ("games", c_uint64),
    ("taken", c_uint64),
    ("known", c_uint64),
    ("skipped", c_uint64),
    ("empty", c_uint64),
    ("cut", c_uint64),
    ("plies", c_uint64),
    ("dropped", c_uint64),
    ("filtered", c_uint64),
    ("conflicts", c_uint64),
    ("evaluations", c_uint64),
    ("positions", chi_put_result),
]
chi_material._fields_ = [
    ("white", c_uint8 * 6),
    ("black", c_uint8 * 6),
]
chi_evidence._fields_ = [
    ("engine", c_char * 65),
    ("depth", chi_range),
    ("since", c_uint64),
    ("until", c_uint64),
]
chi_filter._fields_ = [
    ("has_material", c_bool),
    ("either_colour", c_bool),
    ("material", chi_material),
    ("pieces_min", c_uint8),
    ("pieces_max", c_uint8),
    ("side", c_uint8),
    ("games_min", c_uint64),
    ("score", chi_range),
    ("eval", chi_range),
    ("ply", chi_range),
    ("engines_min", c_uint8),
    ("evidence", chi_evidence),
]
chi_cursor._fields_ = [
    ("set", c_bool),
    ("chi2", c_uint16),
    ("key", chi_key),
]
chi_scan_spec._fields_ = [
    ("size", c_size_t),
    ("chi2_min", c_uint16),
    ("chi2_max", c_uint16),
    ("descending", c_bool),
    ("order", c_uint8),
    ("want", c_uint8),
    ("sort", c_uint8),
    ("limit", c_uint64),
    ("filter", chi_filter),
    ("after", chi_cursor),
    ("games", c_char_p),
    ("whole_counts", c_bool),
    ("pattern", c_char_p),
]
chi_row._fields_ = [
    ("key", chi_key),
    ("found", c_bool),
    ("chi2", c_uint16),
    ("has_eval", c_bool),
    ("is_mate", c_bool),
    ("depth", c_uint16),
    ("score", c_int32),
    ("best", c_uint16),
    ("best_source", c_uint8),
    ("counts", chi_counts),
]
chi_explore_move._fields_ = [
    ("move", c_uint16),
    ("played", chi_counts),
    ("child", chi_row),
    ("eco", c_char_p),
    ("opening", c_char_p),
]
chi_explored._fields_ = [
    ("position", chi_row),
    ("min_ply", c_int32),
    ("eco", c_char_p),
    ("opening", c_char_p),
    ("moves", POINTER(chi_explore_move)),
    ("n_moves", c_size_t),
]
chi_disk_check._fields_ = [
    ("direct", c_bool),
]
chi_info._fields_ = [
    ("uuid", c_uint8 * 16),
    ("format_major", c_uint16),
    ("format_minor", c_uint16),
    ("statistic", c_uint8),
    ("created", c_uint64),
    ("creator", c_char * 32),
    ("sequence", c_uint64),
    ("positions", c_uint64),
    ("known", c_uint64),
    ("base", chi_counts),
    ("expected", chi_expectation),
    ("games", chi_counts),
    ("file_bytes", c_uint64),
    ("used_bytes", c_uint64),
    ("position_bytes", c_uint64),
    ("strength_bytes", c_uint64),
    ("blocks", c_uint64),
    ("block_bytes", c_uint64),
    ("keep", c_uint8),
    ("last_game", c_uint64),
    ("partial", c_bool),
    ("archive_bytes", c_uint64),
    ("postings_bytes", c_uint64),
    ("traits_bytes", c_uint64),
    ("map_bytes", c_uint64),
    ("shards", c_uint32),
    ("readers", c_uint32),
    ("readers_max", c_uint32),
    ("oldest_reader", c_uint64),
    ("read_only", c_uint8),
]
chi_verify_result._fields_ = [
    ("positions", c_uint64),
    ("known", c_uint64),
    ("errors", c_uint64),
]
chi_repair_result._fields_ = [
    ("positions", c_uint64),
    ("games", c_uint64),
    ("found", c_uint64),
    ("damaged", c_uint64),
    ("missing", c_uint64),
    ("pages", c_uint64),
    ("unsure", c_bool),
]
chi_game_id._fields_ = [
    ("id", c_uint8 * 16),
    ("result", c_uint8),
    ("pruned", c_bool),
    ("max_ply", c_uint16),
    ("number", c_uint32),
]
chi_game_head._fields_ = [
    ("number", c_uint32),
    ("white", c_uint32),
    ("black", c_uint32),
    ("event", c_uint32),
    ("site", c_uint32),
    ("source", c_uint32),
    ("year", c_uint16),
    ("month", c_uint8),
    ("day", c_uint8),
    ("white_elo", c_uint16),
    ("black_elo", c_uint16),
    ("eco", c_uint16),
    ("plies", c_uint16),
    ("result", c_uint8),
    ("white_title", c_uint8),
    ("black_title", c_uint8),
    ("speed", c_uint8),
]
chi_tag._fields_ = [
    ("name", c_char_p),
    ("name_len", c_size_t),
    ("value", c_char_p),
    ("value_len", c_size_t),
]
chi_game._fields_ = [
    ("head", chi_game_head),
    ("id", c_uint8 * 16),
    ("tags", POINTER(chi_tag)),
    ("n_tags", c_size_t),
    ("has_start", c_bool),
    ("start", chi_key),
    ("moves", POINTER(c_uint16)),
    ("n_plies", c_size_t),
    ("notes", POINTER(c_uint8)),
    ("n_notes", c_size_t),
    ("rest", c_char_p),
    ("n_rest", c_size_t),
]
chi_posting._fields_ = [
    ("game", c_uint32),
    ("move", c_uint16),
]
chi_game_spec._fields_ = [
    ("size", c_size_t),
    ("filter", c_char_p),
    ("position", POINTER(chi_key)),
    ("sort", c_uint8),
    ("descending", c_bool),
    ("want", c_uint8),
    ("want_total", c_bool),
    ("by_positions", c_bool),
    ("explain", c_bool),
    ("skip_ply", c_bool),
    ("limit", c_uint64),
    ("cursor", c_char_p),
    ("brief", c_bool),
]
chi_game_row._fields_ = [
    ("head", chi_game_head),
    ("ply", c_int32),
    ("move", c_uint16),
    ("white", c_char_p),
    ("black", c_char_p),
    ("event", c_char_p),
    ("site", c_char_p),
    ("round", c_char_p),
    ("source", c_char_p),
    ("pgn", c_char_p),
    ("pgn_len", c_size_t),
]
chi_name_row._fields_ = [
    ("id", c_uint32),
    ("root", c_uint32),
    ("fide", c_uint32),
    ("given", c_bool),
    ("games", c_uint64),
    ("text", c_char_p),
]
chi_names_spec._fields_ = [
    ("size", c_size_t),
    ("kind", c_uint8),
    ("wanted", c_char_p),
    ("after", c_uint32),
    ("limit", c_uint32),
]
chi_names._fields_ = [
    ("rows", POINTER(chi_name_row)),
    ("n", c_size_t),
    ("total", c_uint64),
]
chi_name_suspects._fields_ = [
    ("score", c_uint8),
    ("names", POINTER(chi_name_row)),
    ("n", c_size_t),
]
chi_suspect_groups._fields_ = [
    ("groups", POINTER(chi_name_suspects)),
    ("n", c_size_t),
    ("total", c_uint64),
]
chi_suspects_spec._fields_ = [
    ("size", c_size_t),
    ("kind", c_uint8),
    ("least", c_uint8),
    ("limit", c_uint32),
]
chi_name_change._fields_ = [
    ("action", c_uint8),
    ("kind", c_uint8),
    ("name", c_char_p),
    ("to", c_char_p),
    ("fide", c_uint32),
]
chi_names_changed._fields_ = [
    ("changed", c_uint64),
    ("same", c_uint64),
    ("conflicts", c_uint64),
]
chi_gameset_row._fields_ = [
    ("name", c_char_p),
    ("filter", c_char_p),
    ("games", c_uint64),
    ("upto", c_uint32),
    ("bytes", c_uint64),
]
chi_gamesets._fields_ = [
    ("rows", POINTER(chi_gameset_row)),
    ("n", c_size_t),
]
chi_stats_spec._fields_ = [
    ("size", c_size_t),
    ("by", c_uint8),
    ("filter", c_char_p),
    ("limit", c_uint64),
]
chi_stats_group._fields_ = [
    ("value", c_uint32),
    ("text", c_char_p),
    ("counts", chi_counts),
    ("positions", c_uint64),
    ("rated", c_uint64),
    ("expected", c_uint32),
    ("beyond", c_int32),
]
chi_stats_result._fields_ = [
    ("groups", POINTER(chi_stats_group)),
    ("n", c_size_t),
]
chi_twin_spec._fields_ = [
    ("size", c_size_t),
    ("filter", c_char_p),
    ("days", c_uint32),
    ("plies", c_uint32),
    ("beginning", c_uint32),
]
chi_twin_group._fields_ = [
    ("games", POINTER(c_uint32)),
    ("n", c_size_t),
    ("why", c_uint32),
]
chi_twin_groups._fields_ = [
    ("groups", POINTER(chi_twin_group)),
    ("n", c_size_t),
]
chi_insight_spec._fields_ = [
    ("size", c_size_t),
    ("kind", c_uint8),
    ("black", c_bool),
    ("filter", c_char_p),
    ("min_games", c_uint64),
    ("fdr", c_uint32),
    ("known", c_uint32),
    ("years", c_uint32),
    ("limit", c_uint64),
    ("split", c_uint32),
    ("engines", c_uint8),
    ("evidence", chi_evidence),
    ("position", POINTER(chi_key)),
]
chi_insight_opinion._fields_ = [
    ("engine", c_char * 65),
    ("depth", c_uint16),
    ("eval", c_uint16),
]
chi_insight_row._fields_ = [
    ("key", chi_key),
    ("move", c_uint16),
    ("game", c_uint32),
    ("ply", c_uint32),
    ("games", c_uint64),
    ("others", c_uint64),
    ("followed", c_uint64),
    ("score", c_uint32),
    ("expected", c_uint32),
    ("low", c_int32),
    ("high", c_int32),
    ("chance", c_uint32),
    ("adjusted", c_uint32),
    ("eval", c_int32),
    ("has_loss", c_bool),
    ("loss", c_int32),
    ("best", chi_insight_opinion),
    ("worst", chi_insight_opinion),
]
chi_insight_result._fields_ = [
    ("rows", POINTER(chi_insight_row)),
    ("n", c_size_t),
    ("tested", c_uint64),
    ("games", c_uint64),
    ("before", c_uint64),
]
chi_queue_row._fields_ = [
    ("key", chi_key),
    ("state", c_uint8),
    ("claimed", c_bool),
    ("priority", c_uint32),
    ("tries", c_uint32),
    ("asked", c_uint64),
    ("number", c_uint64),
    ("lease", c_uint64),
    ("expires", c_uint64),
    ("holder", c_char_p),
]
chi_queue_counts._fields_ = [
    ("waiting", c_uint64),
    ("leased", c_uint64),
    ("failed", c_uint64),
]
chi_queue_added._fields_ = [
    ("added", c_uint64),
    ("raised", c_uint64),
    ("refused", c_uint64),
]
chi_queue_take_spec._fields_ = [
    ("size", c_size_t),
    ("holder", c_char_p),
    ("lease_ms", c_uint32),
    ("limit", c_uint32),
    ("keys", POINTER(chi_key)),
    ("n_keys", c_size_t),
]
chi_queue_lease._fields_ = [
    ("lease", c_uint64),
    ("expires", c_uint64),
    ("rows", POINTER(chi_queue_row)),
    ("n", c_size_t),
]
chi_queue_page._fields_ = [
    ("rows", POINTER(chi_queue_row)),
    ("n", c_size_t),
    ("more", c_bool),
    ("counts", chi_queue_counts),
]
chi_options._fields_ = [
    ("size", c_size_t),
    ("store", c_char_p),
    ("writable", c_bool),
    ("connect_ms", c_uint32),
    ("call_ms", c_uint32),
    ("lock_wait_ms", c_uint32),
    ("force_netfs", c_bool),
    ("client_name", c_char_p),
    ("repeat_ms", c_uint32),
    ("token_file", c_char_p),
    ("tls_ca", c_char_p),
    ("tls_cert", c_char_p),
    ("tls_key", c_char_p),
]
chi_rows_place._fields_ = [
    ("cursor", chi_cursor),
    ("mixed", c_bool),
    ("games", c_char * 32),
    ("has_total", c_bool),
    ("total", c_uint64),
    ("plan", c_char_p),
]
chi_board._fields_ = [
    ("white", c_uint64),
    ("black", c_uint64),
    ("pawns", c_uint64),
    ("knights", c_uint64),
    ("bishops", c_uint64),
    ("rooks", c_uint64),
    ("queens", c_uint64),
    ("kings", c_uint64),
    ("castling", c_uint64),
    ("en_passant", c_int8),
    ("black_to_move", c_bool),
]
chi_prober_options._fields_ = [
    ("size", c_size_t),
    ("deadline_ms", c_uint32),
    ("hold_ms", c_uint32),
]
chi_legal_move._fields_ = [
    ("move", c_uint16),
    ("flags", c_uint8),
    ("uci", c_char * 12),
    ("san", c_char * 12),
    ("after", chi_key),
]

# Of each function: what it returns, what it takes.
FUNCTIONS = {
    "chi_strerror": (c_char_p, [c_int]),
    "chi_games_filter_check": (c_int, [c_char_p, POINTER(chi_fault)]),
    "chi_games_open": (c_int, [POINTER(chi_client), POINTER(chi_game_spec), POINTER(POINTER(chi_rows))]),
    "chi_games_next": (c_int, [POINTER(chi_rows), POINTER(POINTER(chi_game_row))]),
    "chi_unknown_name": (c_char_p, [POINTER(chi_client), c_size_t]),
    "chi_game_get": (c_int, [POINTER(chi_client), c_uint32, POINTER(chi_game_row), POINTER(chi_game)]),
    "chi_game_heads": (c_int, [POINTER(chi_client), POINTER(c_uint32), c_size_t, POINTER(chi_game_row)]),
    "chi_names_list": (c_int, [POINTER(chi_client), POINTER(chi_names_spec), POINTER(chi_names)]),
    "chi_suspects_list": (c_int, [POINTER(chi_client), POINTER(chi_suspects_spec), POINTER(chi_suspect_groups)]),
    "chi_names_change": (c_int, [POINTER(chi_client), POINTER(chi_name_change), c_size_t, c_bool, chi_name_conflict, c_void_p, POINTER(chi_names_changed)]),
    "chi_name_kind_name": (c_char_p, [c_int]),
    "chi_gameset_make": (c_int, [POINTER(chi_client), c_char_p, c_char_p, POINTER(c_uint64)]),
    "chi_gamesets_list": (c_int, [POINTER(chi_client), c_char_p, POINTER(chi_gamesets)]),
    "chi_gameset_drop": (c_int, [POINTER(chi_client), c_char_p]),
    "chi_stats_list": (c_int, [POINTER(chi_client), POINTER(chi_stats_spec), POINTER(chi_stats_result)]),
    "chi_twins_list": (c_int, [POINTER(chi_client), POINTER(chi_twin_spec), POINTER(chi_twin_groups)]),
    "chi_insight_list": (c_int, [POINTER(chi_client), POINTER(chi_insight_spec), POINTER(chi_insight_result)]),
    "chi_queue_add": (c_int, [POINTER(chi_client), POINTER(chi_key), c_size_t, c_uint32, POINTER(chi_queue_added)]),
    "chi_queue_take": (c_int, [POINTER(chi_client), POINTER(chi_queue_take_spec), POINTER(chi_queue_lease)]),
    "chi_queue_settle": (c_int, [POINTER(chi_client), c_uint64, c_int, POINTER(chi_key), c_size_t, c_uint32, POINTER(c_uint64)]),
    "chi_queue_list": (c_int, [POINTER(chi_client), c_int, POINTER(chi_queue_row), c_uint32, POINTER(chi_queue_page)]),
    "chi_queue_state_name": (c_char_p, [c_int]),
    "chi_version": (c_char_p, []),
    "chi_open": (c_int, [c_char_p, POINTER(chi_options), POINTER(POINTER(chi_client)), POINTER(chi_fault)]),
    "chi_open_again": (c_int, [POINTER(chi_client), POINTER(POINTER(chi_client))]),
    "chi_open_newest": (c_int, [POINTER(chi_client), POINTER(POINTER(chi_client))]),
    "chi_close": (None, [POINTER(chi_client)]),
    "chi_error": (c_char_p, [POINTER(chi_client)]),
    "chi_store_create": (c_int, [c_char_p, c_int, c_int, POINTER(chi_fault)]),
    "chi_ping": (c_int, [POINTER(chi_client)]),
    "chi_store_check_disk": (c_int, [POINTER(chi_client), POINTER(chi_disk_check)]),
    "chi_store_info": (c_int, [POINTER(chi_client), POINTER(chi_info)]),
    "chi_store_changed": (c_int, [POINTER(chi_client), POINTER(c_bool)]),
    "chi_probe": (c_int, [POINTER(chi_client), POINTER(chi_key), c_size_t, POINTER(chi_row)]),
    "chi_get": (c_int, [POINTER(chi_client), POINTER(chi_key), POINTER(chi_record)]),
    "chi_get_many": (c_int, [POINTER(chi_client), POINTER(chi_key), c_size_t, chi_get_each, c_void_p]),
    "chi_explore": (c_int, [POINTER(chi_client), POINTER(chi_key), c_char_p, POINTER(chi_evidence), POINTER(chi_explored)]),
    "chi_put": (c_int, [POINTER(chi_client), POINTER(chi_put_entry), c_size_t, c_int, POINTER(chi_put_result)]),
    "chi_delete": (c_int, [POINTER(chi_client), POINTER(chi_key), c_size_t, c_int, POINTER(c_uint64)]),
    "chi_flush": (c_int, [POINTER(chi_client)]),
    "chi_game_ids": (c_int, [POINTER(chi_client), POINTER(c_uint8), POINTER(chi_game_id), c_size_t, POINTER(c_size_t)]),
    "chi_import_open": (c_int, [c_char_p, POINTER(chi_options), c_int, POINTER(chi_import_options), POINTER(POINTER(chi_import)), POINTER(chi_fault)]),
    "chi_import_file": (c_int, [POINTER(chi_import), c_char_p]),
    "chi_import_feed": (c_int, [POINTER(chi_import), c_void_p, c_size_t]),
    "chi_import_store": (c_int, [POINTER(chi_import), c_char_p]),
    "chi_import_commit": (c_int, [POINTER(chi_import), POINTER(chi_import_result)]),
    "chi_import_error": (c_char_p, [POINTER(chi_import)]),
    "chi_import_close": (None, [POINTER(chi_import)]),
    "chi_on_progress": (c_int, [POINTER(chi_client), chi_progress, c_void_p]),
    "chi_scan_open": (c_int, [POINTER(chi_client), POINTER(chi_scan_spec), POINTER(POINTER(chi_rows))]),
    "chi_scan_next": (c_int, [POINTER(chi_rows), POINTER(POINTER(chi_row)), POINTER(POINTER(chi_record))]),
    "chi_rows_state": (POINTER(chi_rows_place), [POINTER(chi_rows)]),
    "chi_rows_close": (None, [POINTER(chi_rows)]),
    "chi_scan_count": (c_int, [POINTER(chi_client), POINTER(chi_scan_spec), POINTER(c_uint64), POINTER(c_bool)]),
    "chi_store_verify": (c_int, [POINTER(chi_client), chi_verify_report, c_void_p, POINTER(chi_verify_result)]),
    "chi_store_repair": (c_int, [c_char_p, c_char_p, c_int, chi_verify_report, c_void_p, POINTER(chi_repair_result), POINTER(chi_fault)]),
    "chi_store_backup": (c_int, [POINTER(chi_client), c_char_p, c_int]),
    "chi_store_compact": (c_int, [POINTER(chi_client), POINTER(c_uint64), POINTER(c_uint64)]),
    "chi_store_rescore": (c_int, [POINTER(chi_client), POINTER(chi_counts), POINTER(c_uint64)]),
    "chi_store_set_statistic": (c_int, [c_char_p, c_int, POINTER(chi_counts), POINTER(c_uint64), POINTER(chi_fault)]),
    "chi_key_from_fen": (c_int, [c_char_p, c_size_t, POINTER(chi_key), POINTER(chi_fault)]),
    "chi_key_to_fen": (c_int, [POINTER(chi_key), POINTER(c_char), POINTER(chi_fault)]),
    "chi_key_from_board": (c_int, [POINTER(chi_board), POINTER(chi_key), POINTER(chi_fault)]),
    "chi_prober_open": (c_int, [POINTER(chi_client), POINTER(chi_prober_options), POINTER(POINTER(chi_prober))]),
    "chi_prober_close": (None, [POINTER(chi_prober)]),
    "chi_prober_error": (c_char_p, [POINTER(chi_prober)]),
    "chi_prober_key": (c_int, [POINTER(chi_prober), POINTER(chi_key), POINTER(chi_row)]),
    "chi_prober_board": (c_int, [POINTER(chi_prober), POINTER(chi_board), POINTER(chi_row)]),
    "chi_prober_many": (c_int, [POINTER(chi_prober), POINTER(chi_key), c_size_t, POINTER(chi_row)]),
    "chi_prober_prefetch": (c_int, [POINTER(chi_prober), POINTER(chi_key), c_size_t, POINTER(c_uint64)]),
    "chi_prober_collect": (c_int, [POINTER(chi_prober), c_uint64, POINTER(chi_row)]),
    "chi_prober_follow": (c_int, [POINTER(chi_prober), POINTER(c_bool)]),
    "chi_prober_drop": (None, [POINTER(chi_prober)]),
    "chi_prober_release": (None, [POINTER(chi_prober)]),
    "chi_key_control": (c_int, [POINTER(chi_key), POINTER(c_uint16)]),
    "chi_key_play": (c_int, [POINTER(chi_key), c_uint16, POINTER(chi_key)]),
    "chi_key_move": (c_int, [POINTER(chi_key), c_char_p, c_size_t, POINTER(c_uint16), POINTER(chi_fault)]),
    "chi_key_uci": (c_int, [POINTER(chi_key), c_uint16, POINTER(c_char)]),
    "chi_key_san": (c_int, [POINTER(chi_key), c_uint16, POINTER(c_char)]),
    "chi_key_moves": (c_int, [POINTER(chi_key), c_uint32, POINTER(chi_legal_move), c_size_t, POINTER(c_size_t), POINTER(c_uint32)]),
    "chi_material_parse": (c_int, [c_char_p, c_size_t, POINTER(chi_material), POINTER(chi_fault)]),
    "chi_chi2_parse": (c_int, [c_char_p, c_size_t, POINTER(c_uint16)]),
    "chi_chi2_print": (c_size_t, [c_uint16, POINTER(c_char)]),
    "chi_statistic_name": (c_char_p, [c_int]),
}
