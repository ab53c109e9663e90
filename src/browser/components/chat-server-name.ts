/** The server name of services without a homeserver, where the operator has given none. */
const NO_NAME = 'localhost';

/** The server name to show in identifiers of people; undefined where there is neither a homeserver nor a name for one. */
export function chatServerName(name: string, hasHomeserver: boolean): string | undefined {
  return hasHomeserver || name !== NO_NAME ? name : undefined;
}
