import { parseUrl } from '#platform/base/url.ts';

/** A project of Sentry as its address names it: `https://KEY@HOST/PROJECT`. */
export interface SentryProject {
  /** Takes envelopes. */
  readonly url: string;
  readonly publicKey: string;
}

/** Undefined when the text is no such address. */
export function parseDsn(text: string): SentryProject | undefined {
  const dsn = parseUrl(text);
  const [, path = '/', project] = /^(.*\/)(\d+)$/.exec(dsn?.pathname ?? '') ?? [];
  if (dsn === undefined || project === undefined || dsn.username === '') return undefined;
  if (!/^https?:$/.test(dsn.protocol) || dsn.search !== '' || dsn.hash !== '') return undefined;
  return { url: `${dsn.origin}${path}api/${project}/envelope/`, publicKey: dsn.username };
}
