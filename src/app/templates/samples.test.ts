import { describe, expect, test } from 'vitest';
import { expectCleanPage, HOSTILE_TEXTS, tagsOf } from '#test/support/clean-page.ts';
import { catalog, renderSample } from '#test/support/samples.ts';
import { pageSamples } from './samples.ts';

test('each sample has a unique name that is a valid file name', () => {
  const names = pageSamples.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
});

describe.each(pageSamples.map((sample) => ({ ...sample })))('the page $name', (sample) => {
  test('renders in every language', () => {
    for (const language of catalog.languages) expectCleanPage(renderSample(sample, { language }));
  });
});

/** Problem pages differ only in their code. */
const different = pageSamples.filter(({ name }) => !name.startsWith('problem-') || name === 'problem-upstream-error');

test.each(HOSTILE_TEXTS)('every page shows %.30j as text in any place (S-56, S-74)', (text) => {
  // A name without letters is isolated with `bdi` or left out.
  const tags = (page: string) => tagsOf(page).filter((tag) => tag !== 'bdi' && tag !== '/bdi');
  for (const sample of different) {
    const page = renderSample(sample, { text });
    expectCleanPage(page);
    expect([sample.name, ...tags(page)]).toEqual([sample.name, ...tags(renderSample(sample))]);
  }
});
