import { parseUrl } from '#platform/base/url.ts';

/** A Sentry project, identified by its DSN: `https://KEY@HOST/PROJECT`. */
export interface SentryProject {
  /** Accepts envelopes. */
  readonly url: string;
  readonly publicKey: string;
}

/** Returns undefined if the text is not a DSN. */
export function parseDsn(text: string): SentryProject | undefined {
  const dsn = parseUrl(text);
  const [, path = '/', project] = /^(.*\/)(\d+)$/.exec(dsn?.pathname ?? '') ?? [];
  if (dsn === undefined || project === undefined || dsn.username === '') return undefined;
  if (!/^https?:$/.test(dsn.protocol) || dsn.search !== '' || dsn.hash !== '') return undefined;
  return { url: `${dsn.origin}${path}api/${project}/envelope/`, publicKey: dsn.username };
}
