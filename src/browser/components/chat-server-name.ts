/** The server name of services without a homeserver if the operator configured none. */
const NO_NAME = 'localhost';

/**
 * Returns the server name to show in user identifiers. Undefined without a homeserver and without a configured name.
 */
export function chatServerName(name: string, hasHomeserver: boolean): string | undefined {
  return hasHomeserver || name !== NO_NAME ? name : undefined;
}
