import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { checkSql } from "../../../src/policy/guards/sql.ts";

const MAX_ROWS = 100;

const MYSQL_READS = [
  "select 1",
  "select * from orders;",
  "select * from orders -- all",
  "select * from orders # all",
  "select a, count(*), sum(b) over (partition by c) from t left join u using (id) group by a having count(*) > 1 order by 2 desc limit 10",
  "select a from t limit 5, 6",
  "select a from t limit 500",
  "select a from t union all select b from u",
  "with recursive c (n) as (select 1 union all select n + 1 from c where n < 5) select * from c",
  "select date_sub(now(), interval 7 day), date_format(d, '%Y-%m'), extract(year from d) from t",
  "select json_unquote(json_extract(a, '$.x')), a->>'$.y' from t",
  "select case when a then 1 else 2 end, cast(a as char), trim(a), substring(a, 1, 2), coalesce(a, b) from t",
  "select a from t where b in (1, 2) and c between 1 and 2 and d like 'x%' and e is not null and exists (select 1 from u)",
  "select `a`.`b` from `db`.`a`",
  "select count(distinct a), group_concat(distinct a order by b separator ',') from t",
  "select match(a) against ('x' in boolean mode) from t",
  "select table_name from information_schema.tables",
  "select 'it''s', \"quoted\"",
];

const MYSQL_REFUSED: readonly (readonly [string, string])[] = [
  ["select 1; drop table t", "2 statements"],
  ["delete from t", "not a SELECT"],
  ["insert into t values (1)", "not a SELECT"],
  ["set @a = 1", "not a SELECT"],
  ["show tables", "not a SELECT"],
  ["explain select 1", "not a SELECT"],
  ["call p()", "not a SELECT"],
  ["load data infile '/etc/passwd' into table t", ""],
  ["select sleep(5)", "sleep"],
  ["select `sleep`(5)", "sleep"],
  ["select SLEEP (5)", "sleep"],
  ["select 1--sleep(5)", "sleep"],
  ["select benchmark(1000000, md5('a'))", "benchmark"],
  ["select load_file('/etc/passwd')", "load_file"],
  ["select get_lock('a', 10)", "get_lock"],
  ["select mydb.f(1)", "mydb.f"],
  ["select * from t into outfile '/tmp/x'", ""],
  ["select 1 into outfile '/tmp/x'", ""],
  ["select 1 into dumpfile '/tmp/x'", ""],
  ["select a into @x from t", "into"],
  ["select * from t for update", "locks"],
  ["select * from t for share", "locks"],
  ["select * from t lock in share mode", ""],
  ["select * from (select * from t for update) q", "locks"],
  ["select @a := 5", "variable"],
  ["select @@version", "variable"],
  ["select 1 /*! , sleep(5) */", "block comments"],
  ["select 1 /*!50000 , sleep(5) */", "block comments"],
  ["select 1 /*M! , sleep(5) */", "block comments"],
  ["select 1 /* /* */ , sleep(5) -- */", "block comments"],
  ["select /*+ set_var(sql_mode='') */ 1", "block comments"],
  ["select $$ , sleep(5) , $$ from (select 1 as $$) x", "dollar"],
  ["select q'[' , sleep(5) -- ]'", "sleep"],
  ["select 1 --\u00a0, sleep(5) from (select 1 as `\u00a0`) x\nfrom t", "white space"],
  ["select 1 -- x\r'\n, sleep(5) -- '", "carriage"],
  ["select 'a\\'', sleep(5) -- '", "back slash"],
  ["select * from mysql.user", "mysql.user"],
  ["select * from performance_schema.threads", "performance_schema"],
  ["select * from information_schema.processlist", "processlist"],
  ["select sql_calc_found_rows a from t", "select_modifiers"],
  ["do sleep(5)", ""],
  ["handler t open", ""],
];

const SQLITE_READS = [
  "select * from orders",
  "select * from orders order by id desc;",
  "select id from orders limit 5 offset 3",
  "select id from orders limit -1",
  "select id from orders limit 5000",
  "select status, count(*), total(amount), group_concat(id, ',') from orders group by status having count(*) > 1",
  "select strftime('%Y', created) as y, count(*) from orders group by y",
  'select [id], "status", `amount` from main.orders',
  "select id, row_number() over (partition by status order by amount desc) from orders",
  "with recursive c(n) as (select 1 union all select n + 1 from c where n < 500) select * from c",
  "select value from json_each('[1, 2, 3]')",
  "select json_extract('{\"a\": 1}', '$.a'), typeof(1), iif(1, 2, 3), printf('%d', 1), hex(x'00')",
  "select name from sqlite_master where type = 'table'",
  "select * from pragma_table_info('orders')",
  "values (1), (2)",
  "select id from orders union select 1 except select 2",
  "select cast(amount as integer), coalesce(status, ''), case when id > 1 then 'a' end from orders where status like 'o%' and id in (1, 2)",
  "select a.id from orders a left join orders b on a.id = b.id where exists (select 1 from orders)",
];

const SQLITE_REFUSED: readonly (readonly [string, string])[] = [
  ["select 1; delete from orders", "2 statements"],
  ["insert into orders values (1) returning *", "not a SELECT"],
  ["with x as (select 1) delete from orders", ""],
  ["attach '/tmp/x' as y", "not a SELECT"],
  ["pragma writable_schema = 1", ""],
  ["vacuum into '/tmp/x'", ""],
  ["explain select 1", "not a SELECT"],
  ["select load_extension('x')", "load_extension"],
  ["select writefile('/tmp/x', 'y')", "writefile"],
  ["select readfile('/etc/passwd')", "readfile"],
  ["select edit('x')", "edit"],
  ["select fts3_tokenizer('x')", "fts3_tokenizer"],
  ["select randomblob(1000000000)", "randomblob"],
  ["select zeroblob(1000000000)", "zeroblob"],
  ["select * from pragma_database_list", "pragma_database_list"],
  ["select * from pragma_wal_checkpoint('truncate')", "pragma_wal_checkpoint"],
  ['select * from "pragma_database_list"', "pragma_database_list"],
  ["select * from sqlite_dbpage", "sqlite_dbpage"],
  ["select * from dbstat", "dbstat"],
  ["select * from fsdir('.')", "fsdir"],
  ["select 1 /* ; */", "block comments"],
  ["select 1\0; delete from orders", "NUL"],
];

describe.each([
  ["mysql", MYSQL_READS, MYSQL_REFUSED],
  ["sqlite", SQLITE_READS, SQLITE_REFUSED],
] as const)("the sql guard on %s statements", (dialect, reads, refused) => {
  it.each(reads)("lets pass: %j", async (sql) => {
    const verdict = await checkSql(sql, dialect, MAX_ROWS);
    expect(verdict, "reason" in verdict ? verdict.reason : "").not.toMatchObject({ kind: "deny" });
    if (verdict.kind === "rewrite")
      expect(await checkSql(String(verdict.after), dialect, MAX_ROWS)).toEqual({ kind: "allow" });
  });

  it.each(refused)("refuses: %j", async (sql, word) => {
    const verdict = await checkSql(sql, dialect, MAX_ROWS);
    expect(verdict).toMatchObject({ kind: "deny" });
    expect(verdict.kind === "deny" && verdict.reason).toContain(word);
  });
});

describe("what passes as SQLite", () => {
  it("runs on a real one that may not write, with at most the capped rows", async () => {
    const database = new DatabaseSync(":memory:");
    database.exec("create table orders (id integer primary key, status text, amount real, created text)");
    const insert = database.prepare("insert into orders values (?, ?, ?, ?)");
    for (let id = 1; id <= 500; id += 1)
      insert.run(id, id % 2 === 0 ? "open" : "paid", id * 1.5, "2024-01-01");
    database.exec("pragma query_only = 1");
    for (const sql of SQLITE_READS) {
      const verdict = await checkSql(sql, "sqlite", MAX_ROWS);
      const rows = database.prepare(verdict.kind === "rewrite" ? String(verdict.after) : sql).all();
      expect(rows.length, sql).toBeLessThanOrEqual(MAX_ROWS);
    }
    database.close();
  });
});
