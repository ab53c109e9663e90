-- contract
-- Clean-up is hourly work of the job queue. No released version has these tables.

drop table leases;
drop table sweep_runs;
