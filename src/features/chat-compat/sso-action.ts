import type { FormParameters } from '#platform/http/form-parameters.ts';
import { chatNames } from '#protocol/chat/names.ts';

/** What a client proposes to a person whom nobody knows yet. */
export type SsoAction = 'login' | 'register';

/** The parameter under its stable name, else under its old one; a value that nobody knows counts as absent (chat-compat 8). */
export function readSsoAction(query: FormParameters, protocolName: string): SsoAction | undefined {
  const { actionPrefix } = chatNames(protocolName);
  return asAction(query.get('action')) ?? asAction(query.get(`${actionPrefix}msc3824.action`));
}

function asAction(value: string | undefined): SsoAction | undefined {
  return value === 'login' || value === 'register' ? value : undefined;
}
