/** What the server writes into the page for this application (account-graphql 8.1). */
export interface AreaConfig {
  /** Path of the area, ending in `/`. */
  readonly root: string;
  readonly graphqlEndpoint: string;
  /** The name that account actions carry, for example `chat` in `org.chat.profile`. */
  readonly protocol: string;
  readonly version: string;
  /** The homeserver keeps keys of devices, which a person may have lost. */
  readonly hasCrossSigning: boolean;
  /** Address of the worker that estimates how hard a password is to guess. */
  readonly strengthEstimator: string;
  /** In characters. */
  readonly minimumPasswordLength: number;
  /** For how long a mailed code works. */
  readonly codeMinutes: number;
  /** Before the id of an application: address of its logo, at this origin. Undefined: none are shown. */
  readonly clientLogos: string | undefined;
  /** A new password set by mail signs applications out, whatever the person wants. */
  readonly recoveryEndsApplications: boolean;
  /** People manage here what they pay for. */
  readonly hasPlanManagement: boolean;
  /** Where a person asks for a recovery mail. */
  readonly recoverPath: string;
  /** What the operator calls the service. */
  readonly serviceName: string;
  /** Address of the texts in the reader's language. */
  readonly catalogue: string;
}

/** @param root the element `#root`. Throws when the page is not one that the server made for this application. */
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
