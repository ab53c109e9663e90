import { describe, expect, test } from 'vitest';
import { rejectedName } from '#browser/username-problems.ts';
import { expectCleanPage, HOSTILE_TEXTS, tagsOf } from '#test/support/clean-page.ts';
import { parseForms, textOf } from '#test/support/html-forms.ts';
import { catalog, renderSample, sampleNamed } from '#test/support/samples.ts';
import { emailCodeProblem } from './registration-problems.ts';
import { everyProblem, registerSample, samplePolicy, samples, verifyEmailSample } from './samples.tsx';

test.each(catalog.languages)('a form shows all errors as text, in language %s', (language) => {
  const problems = everyProblem(catalog.in(language));
  const text = textOf(renderSample(sampleNamed(samples, 'register-password-rejected'), { language }));
  for (const { message } of problems) expect(text).toContain(message);
  for (const { message } of problems) expect(message).not.toMatch(/[{}]|^[a-z_.]+$/);
});

describe('the page that asks for the code', () => {
  test('shows an error of the code at its field', () => {
    const page = renderSample(sampleNamed(samples, 'register-code-rejected'));
    expect(page).toMatch(/<input [^>]*inputmode="numeric"[^>]*aria-describedby="code-error code-hint"/);
    const problems = (['invalid', 'invalid_code'] as const).map((code) => emailCodeProblem(catalog.in('en'), code));
    for (const { message } of problems) expect(textOf(page)).toContain(message);
  });

  test('has no code field after the last attempt, and a link to request another one', () => {
    const page = renderSample(sampleNamed(samples, 'register-code-over'));
    expect(page).not.toContain('name="code"');
    expect(page).toContain('value="resend"');
  });

  test.each(HOSTILE_TEXTS)('shows hostile text %# entered as another email address as text (S-74)', (text) => {
    const page = (changedTo: string) =>
      renderSample(
        verifyEmailSample('x', () => ({ changedTo })),
        { text: changedTo },
      );
    expectCleanPage(page(text));
    expect(tagsOf(page(text))).toEqual(tagsOf(page('x')));
  });
});

describe('the first registration form', () => {
  test('shows several errors of one field, each with its code', () => {
    const typed = ['username-invalid-chars', 'username-reserved'] as const;
    const sample = registerSample(
      'x',
      (translations) => rejectedName(translations, '_Ö', typed, samplePolicy).problems,
    );
    const page = renderSample(sample);
    expect([...page.matchAll(/<p data-error-code="([^"]+)"/g)].map((match) => match[1])).toEqual([...typed]);
    expect(page).toMatch(/<input [^>]*id="username"[^>]*aria-describedby="username-error username-hint"/);
  });

  test('has a checkbox for the terms that links to them', () => {
    const page = renderSample(sampleNamed(samples, 'register-password'));
    expect(page).toMatch(/<input type="checkbox" value="on"[^>]*id="accept_terms"/);
    expect(page).toContain('<label for="accept_terms">I accept the <a href="https://example.org/terms"');
    expect(Object.fromEntries(parseForms(page, '/')[0]?.inputs ?? [])).not.toHaveProperty('accept_terms');
  });

  test.each(HOSTILE_TEXTS)('shows hostile text %# entered as a name as text (S-74)', (text) => {
    const page = (typed: string, shown = typed) =>
      renderSample(
        registerSample(
          'x',
          (translations) => rejectedName(translations, typed, ['username-invalid-chars'], samplePolicy).problems,
        ),
        { text: shown },
      );
    expectCleanPage(page(text));
    expect(tagsOf(page(text))).toEqual(tagsOf(page(text, 'Amira Ö')));
  });
});
