import { describe, expect, test } from 'vitest';
import { parseForms, textOf } from '#test/support/html-forms.ts';
import { catalog, renderSample, sampleNamed } from '#test/support/samples.ts';
import { loginProblems } from './login.page.tsx';
import { samples } from './samples.tsx';

const RULES = { acceptsEmail: true };

function login(name: string, text?: string, language?: string): string {
  return renderSample(sampleNamed(samples, name), {
    ...(text !== undefined && { text }),
    ...(language !== undefined && { language }),
  });
}

describe.each(catalog.languages)('the sign-in page in language %s', (language) => {
  test('has no form where passwords are disabled', () => {
    expect(parseForms(login('login-closed', 'x', language), '/login')).toEqual([]);
  });

  test('shows the result of the previous step', () => {
    expect(textOf(login('login', 'x', language))).toContain(catalog.in(language).t('notice.password_recovered'));
  });
});

test.each(samples.slice(5))('the sign-in page shows the error: $name', (sample) => {
  expect(renderSample(sample)).toContain('data-error-code=');
});

describe('the sign-in page', () => {
  test('keeps the continuation in its form URL and the entered name in its field, but never a password', () => {
    const [form] = parseForms(login('login', 'amira'), '/login');
    expect(form?.action).toBe('/login?kind=change_password');
    expect(Object.fromEntries(form?.inputs ?? [])).toEqual({
      csrf: 'amira',
      username: 'amira',
      password: '',
      passkey_capable: '',
    });
  });

  test('has autocomplete hints for the browser (WCAG 2.2 1.3.5)', () => {
    expect(login('login')).toMatch(/<input [^>]*id="username"[^>]*autocomplete="username webauthn"/);
    expect(login('login')).toMatch(/<input [^>]*id="password"[^>]*autocomplete="current-password"/);
  });

  test('rounds the wait time up to minutes', () => {
    const wait = (retryAfterSeconds: number) => {
      const [problem] = loginProblems(
        catalog.in('en'),
        { ok: false, reason: 'rate-limited', retryAfterSeconds },
        RULES,
      );
      return problem?.message;
    };
    expect(wait(1)).toContain('wait a minute');
    expect(wait(60)).toContain('wait a minute');
    expect(wait(61)).toContain('wait 2 minutes');
  });
});
