import { describe, expect, test } from 'vitest';
import { actionTarget } from './account-action.ts';

function target(query: string, protocol = 'chat'): string | undefined {
  return actionTarget(new URLSearchParams(query), protocol);
}

describe('an account action (account-graphql 8.3)', () => {
  test.each([
    ['action=org.chat.profile', ''],
    ['action=profile', ''],
    ['action=org.chat.sessions_list', 'sessions'],
    ['action=sessions_list', 'sessions'],
    ['action=org.chat.devices_list', 'sessions'],
    ['action=org.chat.session_view&device_id=ABC', 'devices/ABC'],
    ['action=session_view&device_id=ABC', 'devices/ABC'],
    ['action=org.chat.device_view&device_id=ABC', 'devices/ABC'],
    ['action=org.chat.session_view', 'sessions'],
    ['action=session_view&device_id=', 'sessions'],
    ['action=org.chat.session_end&device_id=ABC', 'devices/ABC?dialog=end'],
    ['action=session_end&device_id=ABC', 'devices/ABC?dialog=end'],
    ['action=org.chat.device_delete&device_id=ABC', 'devices/ABC?dialog=end'],
    ['action=session_end', 'sessions'],
    ['action=org.chat.cross_signing_reset', 'reset-cross-signing?deepLink=true'],
    ['action=org.chat.account_deactivate', '?dialog=deactivate'],
    ['action=org.chat.plan_management', 'plan'],
    ['action=plan_management', 'plan'],
  ])('%s leads to /account/%s', (query, expected) => {
    expect(target(query)).toBe(expected);
  });

  test.each([
    ...['cross_signing_reset', 'account_deactivate', 'devices_list', 'device_view', 'device_delete', 'x', ''],
  ])('%s without a prefix or unknown leads to the first page without an error', (action) => {
    expect(target(`action=${action}`)).toBe('');
  });

  test('is matched exactly and case-sensitively', () => {
    expect(target('action=Sessions_list')).toBe('');
    expect(target('action=org.CHAT.sessions_list')).toBe('');
    expect(target('action=sessions_list%20')).toBe('');
  });

  test('uses the first value when it is repeated', () => {
    expect(target('action=sessions_list&action=profile')).toBe('sessions');
    expect(target('action=profile&action=sessions_list')).toBe('');
    expect(target('action=session_view&device_id=ONE&device_id=TWO')).toBe('devices/ONE');
  });

  test('has the prefix of a custom protocol name, and no other', () => {
    expect(target('action=org.talk.sessions_list', 'talk')).toBe('sessions');
    expect(target('action=org.chat.sessions_list', 'talk')).toBe('');
    expect(target('action=sessions_list', 'talk')).toBe('sessions');
  });

  test('encodes / and ? in a device ID', () => {
    expect(target('action=session_view&device_id=a%2Fb%3Fc')).toBe('devices/a%2Fb%3Fc');
  });

  test('is absent when the URL contains none', () => {
    expect(target('')).toBeUndefined();
    expect(target('device_id=ABC')).toBeUndefined();
  });
});
