import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { chatNames } from './names.ts';

test('the protocol name decides paths, actions and both spellings of scopes (chat-compat 2)', () => {
  expect(chatNames('chat')).toEqual({
    pathPrefix: '/_chat/',
    actionPrefix: 'org.chat.',
    stableScopePrefix: 'urn:chat:client:',
    unstableScopePrefix: 'urn:chat:org.chat.msc2967.client:',
    accountApiMember: 'org.chat.chat-authentication-service.graphql_endpoint',
  });
  expect(Object.values(chatNames('matrix')).join(' ')).not.toContain('chat');
});

test('no other file of the product puts such a name together', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$|\.test-support\.ts$/.test(name))
    .filter((name) => /`(?:\/?_|org\.|urn:)\$\{/.test(readFileSync(`src/${name}`, 'utf8')));
  expect(files).toEqual(['protocol/chat/names.ts']);
});

test('no file of the product writes one out', () => {
  const written = /'[^'\n]*(?:\/_(?:chat|matrix)\/|urn:(?:chat|matrix):|org\.(?:chat|matrix)\.)[^'\n]*'/;
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$|\.test-support\.ts$/.test(name))
    .filter((name) => written.test(readFileSync(`src/${name}`, 'utf8').replaceAll(/\.describe\('[^\n]*/g, '')));
  expect(files).toEqual([]);
});
