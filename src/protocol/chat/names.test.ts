import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { chatNames } from './names.ts';

test('the protocol name determines paths, actions and both spellings of scopes (chat-compat 2)', () => {
  expect(chatNames('chat')).toEqual({
    pathPrefix: '/_chat/',
    actionPrefix: 'org.chat.',
    stableScopePrefix: 'urn:chat:client:',
    unstableScopePrefix: 'urn:chat:org.chat.msc2967.client:',
    accountApiMember: 'org.chat.chat-authentication-service.graphql_endpoint',
  });
  expect(Object.values(chatNames('matrix')).join(' ')).not.toContain('chat');
});

test('no other product file constructs such a name', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$|\.test-support\.ts$/.test(name))
    .filter((name) => /`(?:\/?_|org\.|urn:)\$\{/.test(readFileSync(`src/${name}`, 'utf8')));
  expect(files).toEqual(['protocol/chat/names.ts']);
});

test('no product file contains one literally', () => {
  const written = /'[^'\n]*(?:\/_(?:chat|matrix)\/|urn:(?:chat|matrix):|org\.(?:chat|matrix)\.)[^'\n]*'/;
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$|\.test-support\.ts$/.test(name))
    .filter((name) => written.test(readFileSync(`src/${name}`, 'utf8').replaceAll(/\.describe\('[^\n]*/g, '')));
  expect(files).toEqual([]);
});
