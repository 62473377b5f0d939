/** What guarded MySQL and SQLite statements may call and look up: functions that compute on their arguments only. */

const BOTH = `abs acos asin atan atan2 avg ceil ceiling char coalesce concat concat_ws cos count cume_dist current_date
  current_time current_timestamp date degrees dense_rank exp first_value floor group_concat hex ifnull instr json_array
  json_array_length json_extract json_group_array json_group_object json_object json_quote json_type json_valid lag
  last_value lead length ln log log10 log2 lower ltrim max min mod nth_value ntile nullif percent_rank pi pow power radians rank replace
  round row_number rtrim sign sin sqrt substr substring sum tan time trim upper`;

const MYSQL_ONLY = `adddate addtime any_value ascii bin bit_and bit_count bit_length bit_or bit_xor char_length
  character_length conv convert_tz cot crc32 curdate current_user curtime database date_add date_format date_sub datediff day
  dayname dayofmonth dayofweek dayofyear elt export_set field find_in_set format from_base64 from_days from_unixtime
  get_format greatest grouping hour if inet6_aton inet6_ntoa inet_aton inet_ntoa insert interval is_uuid isnull json_arrayagg
  json_contains json_contains_path json_depth json_keys json_length json_merge_patch json_merge_preserve json_objectagg
  json_overlaps json_pretty json_search json_set json_insert json_remove json_replace json_unquote json_value last_day lcase
  least left localtime localtimestamp locate makedate maketime md5 microsecond mid minute month monthname now oct octet_length
  ord period_add period_diff position quarter quote rand regexp_instr regexp_like regexp_replace regexp_substr reverse right
  schema second sec_to_time sha sha1 sha2 soundex st_area st_astext st_contains st_distance st_geomfromtext st_x st_y std
  stddev stddev_pop stddev_samp str_to_date strcmp subdate substring_index subtime timediff timestamp timestampadd
  timestampdiff time_format time_to_sec to_base64 to_days to_seconds truncate ucase unhex unix_timestamp utc_date utc_time
  utc_timestamp uuid var_pop var_samp variance version week weekday weekofyear year yearweek`;

const SQLITE_ONLY = `acosh asinh atanh bm25 changes cosh datetime format glob highlight iif json json_each json_error_position json_insert
  json_patch json_remove json_replace json_set jsonb julianday last_insert_rowid like likelihood likely octet_length printf quote
  random regexp sinh snippet sqlite_version strftime string_agg tanh timediff total total_changes trunc typeof unhex unicode unixepoch
  unlikely`;

function setOf(...lists: readonly string[]): ReadonlySet<string> {
  return new Set(lists.join(" ").split(/\s+/));
}

export const MYSQL_FUNCTIONS = setOf(BOTH, MYSQL_ONLY);
export const SQLITE_FUNCTIONS = setOf(BOTH, SQLITE_ONLY);

export const SQLITE_TABLE_FUNCTIONS = setOf(
  "json_each json_tree pragma_table_info pragma_table_xinfo pragma_index_list pragma_index_info pragma_foreign_key_list",
);
export const SQLITE_SYSTEM_TABLES = setOf(
  "sqlite_master sqlite_schema sqlite_temp_master sqlite_temp_schema sqlite_sequence sqlite_stat1",
);

export const MYSQL_SCHEMA_TABLES = setOf(
  "columns check_constraints key_column_usage partitions referential_constraints schemata statistics table_constraints tables views",
);
