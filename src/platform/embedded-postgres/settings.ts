/**
 * What the server runs with: durable, small, silent about content, and reachable through its socket only. They stand
 * on its command line, so that every start uses those of the program that started it.
 */
export function serverSettings(major: number, socketDirectory: string): string[] {
  const settings: Record<string, string> = {
    listen_addresses: '',
    unix_socket_directories: socketDirectory,
    unix_socket_permissions: '0700',
    port: '5432',
    max_connections: '200',
    // Durability is not for tuning (operations 1.8).
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    // No replica and no archive: the least to write ahead.
    wal_level: 'minimal',
    max_wal_senders: '0',
    max_logical_replication_workers: '0',
    min_wal_size: '32MB',
    max_wal_size: '256MB',
    shared_buffers: '64MB',
    huge_pages: 'off',
    work_mem: '4MB',
    maintenance_work_mem: '32MB',
    effective_cache_size: '256MB',
    max_parallel_workers_per_gather: '0',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Neither statements nor their values may reach the log: no ERROR lines (they are the caller's to report), no
    // details of those that end a session.
    logging_collector: 'off',
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    log_parameter_max_length_on_error: '0',
    log_checkpoints: 'off',
    log_line_prefix: '%m [%p] ',
    // Three processes less; the tables fit into memory.
    ...(major >= 18 ? { io_method: 'sync' } : {}),
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
