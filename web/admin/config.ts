/** Configuration that the server injects into the page. */
export interface AdminConfig {
  /** Path of the area, ending in `/`. */
  readonly root: string;
  /** Path of the public base URL, ending in `/`. */
  readonly base: string;
  readonly clientId: string;
  readonly version: string;
  readonly serviceName: string;
  /** URL of the texts in the user's language. */
  readonly catalog: string;
}

/**
 * Reads the configuration.
 * @param root the element `#root`. Throws if the server did not render the page for this application
 */
export function readConfig(root: HTMLElement): AdminConfig {
  const { root: path, base, clientId, version } = root.dataset;
  const name = document.querySelector<HTMLMetaElement>('meta[name="application-name"]');
  const catalog = document.querySelector<HTMLLinkElement>('link[rel="preload"][as="fetch"]');
  if (path === undefined || base === undefined || clientId === undefined || catalog === null) {
    throw new Error('the page lacks the configuration of the admin area');
  }
  return {
    root: path,
    base,
    clientId,
    version: version ?? '',
    serviceName: name?.content ?? location.host,
    catalog: catalog.href,
  };
}
