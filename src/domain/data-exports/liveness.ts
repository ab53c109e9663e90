export type DataExportState = 'pending' | 'ready' | 'failed' | 'expired';

/**
 * What became of an export, as a `DataExportState`. Its job is retried for an hour and a half: what is not made within a
 * day never will be, even if its process could not say so. An expression for statements.
 * @param dataExport alias of `data_exports`; @param now the parameter that holds the process clock
 */
export function dataExportState(dataExport: string, now: string): string {
  return `case
      when ${dataExportIsExpired(dataExport, now)} then 'expired'
      when ${dataExport}.ready_at is not null then 'ready'
      when ${dataExport}.failed_at is not null or ${dataExport}.created_at <= ${now} - interval '24 hours' then 'failed'
      else 'pending'
    end`;
}

/** Its time is over: nobody gets it any more. @param dataExport alias of `data_exports`; @param now as above */
export function dataExportIsExpired(dataExport: string, now: string): string {
  return `${dataExport}.expires_at <= ${now}`;
}
