import { expect, test } from 'vitest';
import { parseForms } from '#test/support/html-forms.ts';
import { renderSample, sampleNamed } from '#test/support/samples.ts';
import { samples } from './samples.tsx';

test('the sign-out page has a button that signs out', () => {
  const page = renderSample(sampleNamed(samples, 'logout'));
  expect(parseForms(page, '/')).toMatchObject([{ method: 'POST', action: '/logout' }]);
});

test('the sign-out page of an expired form keeps its options', () => {
  const page = renderSample(sampleNamed(samples, 'logout-expired'));
  expect(parseForms(page, '/')[0]?.inputs.get('scope')).toBe('everywhere');
});
