/** Configuration that the server injects into the page (account-graphql 8.1). */
export interface AreaConfig {
  /** Path of the area, ending in `/`. */
  readonly root: string;
  readonly graphqlEndpoint: string;
  /** Name in account actions, for example `chat` in `org.chat.profile`. */
  readonly protocol: string;
  readonly version: string;
  /** Whether the homeserver stores cross-signing keys, which a user may have lost. */
  readonly hasCrossSigning: boolean;
  /** URL of the worker that estimates password strength. */
  readonly strengthEstimator: string;
  /** In characters. */
  readonly minimumPasswordLength: number;
  /** Validity of a mailed code, in minutes. */
  readonly codeMinutes: number;
  /** URL prefix of client logos, on this origin; the client ID follows. Undefined: no logos are shown. */
  readonly clientLogos: string | undefined;
  /** Password recovery always signs out all apps. */
  readonly recoveryEndsApplications: boolean;
  /** Whether users can manage a paid plan here. */
  readonly hasPlanManagement: boolean;
  /** Page where users request a recovery mail. */
  readonly recoverPath: string;
  /** Name of the service. */
  readonly serviceName: string;
  /** URL of the texts in the user's language. */
  readonly catalogue: string;
}

/**
 * Reads the configuration.
 * @param root the element `#root`. Throws if the server did not render the page for this application
 */
export function readConfig(root: HTMLElement): AreaConfig {
  const { root: path, graphqlEndpoint, protocol, version, crossSigning } = root.dataset;
  const {
    strengthEstimator,
    minimumPasswordLength,
    codeMinutes,
    clientLogos,
    recoveryEndsApplications,
    planManagement,
  } = root.dataset;
  const name = document.querySelector<HTMLMetaElement>('meta[name="application-name"]');
  const catalogue = document.querySelector<HTMLLinkElement>('link[rel="preload"][as="fetch"]');
  if (path === undefined || graphqlEndpoint === undefined || catalogue === null) {
    throw new Error('the page lacks the configuration of the account area');
  }
  return {
    root: path,
    graphqlEndpoint,
    protocol: protocol ?? 'chat',
    version: version ?? '',
    hasCrossSigning: crossSigning === 'true',
    strengthEstimator: strengthEstimator ?? '',
    minimumPasswordLength: Number(minimumPasswordLength ?? 0),
    codeMinutes: Number(codeMinutes ?? 0),
    clientLogos,
    recoveryEndsApplications: recoveryEndsApplications === 'true',
    hasPlanManagement: planManagement === 'true',
    recoverPath: new URL('../recover', new URL(path, location.origin)).pathname,
    serviceName: name?.content ?? location.host,
    catalogue: catalogue.href,
  };
}
