/**
 * What a guarded PostgreSQL statement may call and look up. Functions here compute on their arguments: none reads a file, a
 * setting or another session, runs a text as a query, waits, locks, or writes. A list of what is forbidden would age.
 */

export const POSTGRESQL_FUNCTIONS: ReadonlySet<string> = new Set(
  `abs acos acosd acosh age array_agg array_append array_cat array_dims array_length array_lower array_ndims
  array_position array_positions array_prepend array_remove array_replace array_to_json array_to_string array_upper ascii asin
  asind asinh atan atan2 atan2d atand atanh avg bit_and bit_count bit_length bit_or bit_xor bool_and bool_or box btrim
  cardinality cbrt ceil ceiling center char_length character_length chr circle clock_timestamp col_description concat concat_ws
  convert_from convert_to corr cos cosd cosh cot cotd count covar_pop covar_samp cume_dist current_catalog current_database
  current_date current_schema current_schemas current_user date_bin date_part date_trunc decode degrees dense_rank
  diagonal diameter div encode enum_first enum_last enum_range erf erfc every exp extract family first_value floor
  format format_type gamma gcd gen_random_uuid generate_series generate_subscripts get_bit get_byte greatest
  grouping has_column_privilege has_database_privilege has_schema_privilege has_table_privilege height host hostmask
  initcap inet_merge inet_same_family isclosed isempty isfinite isopen json_agg json_array_elements json_array_elements_text
  json_array_length json_build_array json_build_object json_each json_each_text json_extract_path json_extract_path_text
  json_object json_object_agg json_object_keys json_populate_record json_populate_recordset json_strip_nulls json_to_record
  json_to_recordset json_typeof jsonb_agg jsonb_array_elements jsonb_array_elements_text jsonb_array_length
  jsonb_build_array jsonb_build_object jsonb_each jsonb_each_text jsonb_extract_path jsonb_extract_path_text jsonb_insert
  jsonb_object jsonb_object_agg jsonb_object_keys jsonb_path_exists jsonb_path_exists_tz jsonb_path_match
  jsonb_path_match_tz jsonb_path_query jsonb_path_query_array jsonb_path_query_array_tz jsonb_path_query_first
  jsonb_path_query_first_tz jsonb_path_query_tz jsonb_populate_record jsonb_populate_recordset jsonb_pretty jsonb_set
  jsonb_set_lax jsonb_strip_nulls jsonb_to_record jsonb_to_recordset jsonb_typeof justify_days justify_hours
  justify_interval lag last_value lcm lead least left length like_escape ln localtime localtimestamp log log10 lower lower_inc
  lower_inf lpad ltrim make_date make_interval make_time make_timestamp make_timestamptz masklen max md5 min min_scale mod
  mode multirange multirange_merge netmask network normalize now npoints nth_value ntile nullif num_nonnulls num_nulls
  numnode numeric obj_description octet_length overlaps overlay parse_ident path pclose percent_rank percentile_cont
  percentile_disc pg_collation_for pg_column_size pg_get_constraintdef pg_get_expr pg_get_indexdef pg_get_viewdef
  pg_relation_size pg_size_bytes pg_size_pretty pg_table_is_visible pg_table_size pg_total_relation_size pg_typeof pi
  phraseto_tsquery plainto_tsquery point polygon popen position power quote_ident quote_literal quote_nullable radians radius
  random range_agg range_intersect_agg range_merge rank regexp_count regexp_instr regexp_like regexp_match regexp_matches
  regexp_replace regexp_split_to_array regexp_split_to_table regexp_substr regr_avgx regr_avgy regr_count regr_intercept
  regr_r2 regr_slope regr_sxx regr_sxy regr_syy repeat replace reverse right round row_number row_to_json rpad rtrim scale
  session_user set_masklen setweight sha224 sha256 sha384 sha512 shobj_description sign similar_to_escape sin sind sinh
  split_part sqrt starts_with statement_timestamp stddev stddev_pop stddev_samp string_agg string_to_array string_to_table strip
  strpos substr substring sum tan tand tanh text timeofday timezone to_ascii to_char to_date to_hex to_json to_jsonb
  to_number to_regclass to_timestamp to_tsquery to_tsvector transaction_timestamp translate trim trim_array trim_scale trunc
  ts_delete ts_filter ts_headline ts_rank ts_rank_cd tsquery_phrase tsvector_to_array
  unistr unnest upper upper_inc upper_inf user uuid_generate_v4 var_pop var_samp variance version websearch_to_tsquery
  width width_bucket xmlagg date float4 float8 int2 int4 int8 bool varchar bpchar bytea interval timestamptz timestamp time
  uuidv4 uuidv7 casefold array_sort array_reverse array_sample array_shuffle any_value json_array json_scalar
  json_serialize json_exists json_value json_query`.split(/\s+/),
);

/** Tables of `pg_catalog` that tell about the schema and hold no data of users, no passwords and no queries of others. */
export const POSTGRESQL_SYSTEM_TABLES: ReadonlySet<string> = new Set(
  `pg_am pg_attrdef pg_attribute pg_class pg_collation pg_constraint pg_depend pg_description pg_enum pg_extension pg_index
  pg_indexes pg_inherits pg_matviews pg_namespace pg_opclass pg_partitioned_table pg_range pg_sequence pg_sequences
  pg_stat_user_indexes pg_stat_user_tables pg_statio_user_tables pg_tables pg_tablespace pg_timezone_abbrevs
  pg_timezone_names pg_trigger pg_type pg_views`.split(/\s+/),
);

export const POSTGRESQL_INFORMATION_SCHEMA: ReadonlySet<string> = new Set(
  `check_constraints columns constraint_column_usage constraint_table_usage domain_constraints domains element_types
  information_schema_catalog_name key_column_usage referential_constraints schemata sequences table_constraints tables
  view_column_usage view_table_usage views`.split(/\s+/),
);
