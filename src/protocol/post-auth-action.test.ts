import { describe, expect, test } from 'vitest';
import { query, Urls } from '#browser/urls.ts';
import { FormParameters } from '#platform/http/form-parameters.ts';
import { parsePostAuthAction, postAuthActionFields } from '#protocol/post-auth-action.ts';

const ID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const urls = new Urls('https://example.org/auth');

function parse(text: string, protocolName = 'chat') {
  const parameters = FormParameters.parse(text);
  if (parameters === undefined) throw new Error('not a query');
  return parsePostAuthAction(parameters, protocolName);
}

describe('continuation after authentication', () => {
  test.each([
    [`kind=continue_authorization_grant&id=${ID}`, `/auth/authorize/${ID}`],
    [`kind=continue_device_code_grant&id=${ID}`, `/auth/device/${ID}`],
    [`kind=continue_compat_sso_login&id=${ID}`, `/auth/complete-compat-sso/${ID}`],
    ['kind=change_password', '/auth/account/password/change'],
    [`kind=link_upstream&id=${ID}`, `/auth/upstream/link/${ID}`],
    ['kind=manage_account', '/auth/account/'],
    ['kind=manage_account&action=org.chat.profile', '/auth/account/?action=org.chat.profile'],
    ['kind=manage_account&action=session_view&device_id=AB%20C', '/auth/account/?action=session_view&device_id=AB%20C'],
    ['kind=manage_account&action=plan_management', '/auth/account/?action=plan_management'],
    ['kind=manage_account&action=org.chat.cross_signing_reset', '/auth/account/?action=org.chat.cross_signing_reset'],
    ['', '/auth/'],
  ])('%s continues with %s', (text, target) => {
    expect(urls.afterAuthentication(parse(text))).toBe(target);
  });

  test('is preserved by the links that pages create', () => {
    for (const text of [`kind=link_upstream&id=${ID}`, 'kind=manage_account&action=session_end&device_id=a%2Fb%26c']) {
      const action = parse(text);
      expect(query(postAuthActionFields(action))).toBe(`?${text}`);
      expect(parse(text)).toEqual(action);
    }
  });

  test.each([
    'kind=unknown',
    'kind=continue_authorization_grant',
    'kind=continue_authorization_grant&id=https://evil.example/',
    'kind=continue_authorization_grant&id=../../x',
    `kind=continue_authorization_grant&kind=change_password&id=${ID}`,
    `kind=link_upstream&id=${ID}&id=${ID}`,
    'next=//evil.example',
  ])('%s is dropped, so that it cannot redirect anywhere (S-69)', (text) => {
    expect(parse(text)).toBeUndefined();
  });

  test.each([
    'kind=manage_account&action=//evil',
    'kind=manage_account&action=cross_signing_reset',
    'kind=manage_account&action=org.matrix.profile',
    'kind=manage_account&action=session_view',
    'kind=manage_account&action=session_view&device_id=%0d%0aLocation:%20x',
    'kind=manage_account&action=profile&action=profile',
  ])('%s keeps the account area and drops the action', (text) => {
    expect(parse(text)).toEqual({ kind: 'manage_account' });
  });

  test('names follow the protocol name', () => {
    expect(parse('kind=manage_account&action=org.matrix.device_view&device_id=A', 'matrix')).toEqual({
      kind: 'manage_account',
      account: { action: 'org.matrix.device_view', deviceId: 'A' },
    });
  });
});
