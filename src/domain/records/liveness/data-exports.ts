export type DataExportState = 'pending' | 'ready' | 'failed' | 'expired';

/**
 * Returns an SQL expression for the `DataExportState` of an export. Its job is retried for an hour and a half. An
 * export that is not ready within a day counts as failed, even if its process could not record the failure.
 * @param dataExport alias of `data_exports`
 * @param now the parameter that holds the process clock
 */
export function dataExportState(dataExport: string, now: string): string {
  return `case
      when ${dataExportIsExpired(dataExport, now)} then 'expired'
      when ${dataExport}.ready_at is not null then 'ready'
      when ${dataExport}.failed_at is not null or ${dataExport}.created_at <= ${now} - interval '24 hours' then 'failed'
      else 'pending'
    end`;
}

/**
 * Returns an SQL condition: the export has expired and can no longer be downloaded.
 * @param dataExport alias of `data_exports`
 * @param now the parameter that holds the process clock
 */
export function dataExportIsExpired(dataExport: string, now: string): string {
  return `${dataExport}.expires_at <= ${now}`;
}
