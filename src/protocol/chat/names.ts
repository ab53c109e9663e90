/** Names derived from the protocol name `P` (chat-compat 2). They are built only here. */
export interface ChatNames {
  /** Prefix of client API paths, here and at the homeserver. */
  readonly pathPrefix: string;
  /** Prefix of account area actions in their long form. */
  readonly actionPrefix: string;
  readonly stableScopePrefix: string;
  readonly unstableScopePrefix: string;
  /** Discovery document member for the URL of the account API. */
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
