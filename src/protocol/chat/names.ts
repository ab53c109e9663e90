/** What the protocol name `P` decides (chat-compat 2). These names are put together here and nowhere else. */
export interface ChatNames {
  /** Paths of the client API begin with it, here and at the homeserver. */
  readonly pathPrefix: string;
  /** Actions of the account area in their long form begin with it. */
  readonly actionPrefix: string;
  readonly stableScopePrefix: string;
  readonly unstableScopePrefix: string;
  /** Member of the discovery document with the address of the account API. */
  readonly accountApiMember: string;
}

/** @param protocolName for example `chat` */
export function chatNames(protocolName: string): ChatNames {
  return {
    pathPrefix: `/_${protocolName}/`,
    actionPrefix: `org.${protocolName}.`,
    stableScopePrefix: `urn:${protocolName}:client:`,
    unstableScopePrefix: `urn:${protocolName}:org.${protocolName}.msc2967.client:`,
    accountApiMember: `org.${protocolName}.${protocolName}-authentication-service.graphql_endpoint`,
  };
}
