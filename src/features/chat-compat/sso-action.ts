import type { FormParameters } from '#platform/http/form-parameters.ts';
import { chatNames } from '#protocol/chat/names.ts';

/** What a client suggests to a user who is not signed in. */
export type SsoAction = 'login' | 'register';

/**
 * Reads the parameter under its stable name, or else its old one. An unknown value counts as absent (chat-compat 8).
 */
export function readSsoAction(query: FormParameters, protocolName: string): SsoAction | undefined {
  const { actionPrefix } = chatNames(protocolName);
  return asAction(query.get('action')) ?? asAction(query.get(`${actionPrefix}msc3824.action`));
}

function asAction(value: string | undefined): SsoAction | undefined {
  return value === 'login' || value === 'register' ? value : undefined;
}
