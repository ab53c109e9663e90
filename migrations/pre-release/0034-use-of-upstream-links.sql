-- expand
-- When somebody last signed in through a link; null: nobody since this column is there.
alter table upstream_links add column last_used_at timestamptz;
