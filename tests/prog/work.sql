-- Work for sqlite3's shell: what is created, filled, indexed, queried and
-- deleted here makes most of its parts run.
.headers on
.mode column
create table item(id integer primary key, name text, price real, kind int);
create table kind(id integer primary key, title text unique);
create index item_kind on item(kind, price);
create view dear as select * from item where price > 50;
create trigger added after insert on kind begin
	insert into item(name, price, kind) values('new ' || new.title, 1, new.id);
end;
insert into kind(title) values('apple'), ('pear'), ('plum');
begin;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 60)
insert into item(name, price, kind)
	select printf('item %03d', i), (i * 7919) % 101, 1 + i % 3 from n;
commit;
select kind.title, count(*), sum(price), round(avg(price), 2), max(name)
	from item join kind on kind.id = item.kind
	group by kind.title having count(*) > 1 order by 3 desc;
select name, price, rank() over (partition by kind order by price) as r
	from dear where name like '%3%' limit 8;
.mode csv
select upper(substr(name, 1, 3)) || hex(id), case when price > 50 then 'dear'
	else 'cheap' end from item where id in (select id from item
	where price between 10 and 20) union select 'x', 'y' except
	select 'p', 'q' order by 1;
update item set price = price * 1.1 where kind = 2;
delete from item where price < 20 and name not glob '*5';
savepoint s;
drop index item_kind;
rollback to s;
analyze;
explain query plan select * from item where kind = 1 order by price;
select group_concat(name, '/') from (select name from item order by name
	limit 5);
select json_extract('{"a":[1,2,{"b":3}]}', '$.a[2].b'), length(x'0102');
select * from nowhere;
pragma integrity_check;
vacuum;
.schema item
.quit
