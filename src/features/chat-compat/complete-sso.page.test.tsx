import { expect, test } from 'vitest';
import { ssoTarget } from '#protocol/chat/sso-redirect.ts';
import { expectCleanPage, HOSTILE_TEXTS, tagsOf } from '#test/support/clean-page.ts';
import { textOf } from '#test/support/html-forms.ts';
import { renderSample } from '#test/support/samples.ts';
import { ssoSamples } from './samples.tsx';

function pages(address: string, text = 'Amira'): string[] {
  return ssoSamples('x', address).map((sample) => renderSample(sample, { text }));
}

test.each(['https://app.example/', 'http://app.example/', 'app.example:/signed-in'])(
  'the single sign-on pages name the target of the token: %s',
  (address) => {
    for (const page of pages(address)) expect(textOf(page)).toContain(ssoTarget(address).name);
  },
);

test.each(HOSTILE_TEXTS)('the pages show %.30j as text wherever it comes from (S-74)', (text) => {
  const address = `app.example:${text.replaceAll(/\p{C}|\\/gu, '')}`;
  const valid = pages('app.example:x').map(tagsOf);
  for (const [index, page] of pages(address, text).entries()) {
    expectCleanPage(page);
    const isPlain = (tag: string): boolean => tag !== 'bdi' && tag !== '/bdi';
    expect(tagsOf(page).filter(isPlain)).toEqual(valid[index]?.filter(isPlain));
  }
});
