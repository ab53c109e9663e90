-- contract min_reader=0
-- The thumbprint of a proof that came with a pushed request is its parameter dpop_jkt. Nothing ever used this column, so
-- older processes go on.

alter table oauth2_pushed_requests drop column dpop_jkt;
