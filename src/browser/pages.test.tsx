import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { VNode } from 'preact';
import { describe, expect, test } from 'vitest';
import { expectCleanPage, HOSTILE_TEXTS, tagsOf } from '#test/support/clean-page.ts';
import { textOf } from '#test/support/html-forms.ts';
import { catalogOf } from '#test/support/samples.ts';
import { ERROR_CODES } from '#vocabulary/errors.ts';
import { BUNDLED_LANGUAGES, languageName } from '#vocabulary/languages.ts';
import en from '../../locales/en.json' with { type: 'json' };
import { assetPaths } from './asset-files.ts';
import { Button, LinkButton } from './components/buttons.tsx';
import { AccountCard, Fact } from './components/decision.tsx';
import { PasswordField, TextField } from './components/fields.tsx';
import type { FormProblem } from './components/form.tsx';
import { ErrorSummary, Form } from './components/form.tsx';
import { ScopeList } from './components/scope-list.tsx';
import { StrengthMeter } from './components/strength-meter.tsx';
import { ClientName, cleanName, Heading, Notice } from './components/text.tsx';
import { type DeadSessionKind, DeadSessionPage, deadSessionTitle } from './dead-session-page.tsx';
import { ProblemPage, problemTitle } from './error-format.tsx';
import { loadTranslations } from './i18n/load-translations.ts';
import type { Translations } from './i18n/translations.ts';
import { type PageFrame, renderPage, type Site } from './layout.tsx';

const site: Site = {
  serviceName: 'example.org',
  indexPath: '/',
  policyUri: 'https://example.org/privacy',
  tosUri: 'https://example.org/terms',
  imprint: 'Example Society',
  ...assetPaths('/', { 'pages.css': 'pages-0a1b2c3d.css' }),
};
const catalog = loadTranslations();
const english = catalog.in('en');
const languageLinks = catalog.languages.map((language) => ({ language, href: `/login?ui_locales=${language}` }));

function render(content: VNode, frame: Partial<PageFrame> = {}): string {
  return renderPage({ site, translations: english, title: 'Sample', languageLinks, ...frame }, content);
}

const problems: FormProblem[] = [
  { code: 'csrf_expired', message: 'Send it again.' },
  { code: 'required', field: 'username', message: 'Enter a name.' },
];

/** Renders a page with every component, and `text` in place of all external texts. */
function samplePage(translations: Translations, text: string): string {
  const content = (
    <>
      <Heading title={<ClientName name={text} />}>{text}</Heading>
      <Notice kind="warning">{text}</Notice>
      <ErrorSummary translations={translations} problems={problems} />
      <AccountCard displayName={`A ${text}`} identifier={text} />
      <ScopeList translations={translations} scopes={['profile', text]} />
      <Fact name={text}>{text}</Fact>
      <LinkButton href="/">{text}</LinkButton>
      <Form action="/login" csrf={text}>
        <TextField name="username" label={text} autocomplete="username" value={text} problems={problems} />
        <PasswordField
          name="password"
          label="Password"
          autocomplete="current-password"
          translations={translations}
          problems={problems}
        />
        <Button name="action" value={text}>
          {text}
        </Button>
      </Form>
    </>
  );
  return render(content, { translations, title: text, site: { ...site, serviceName: text, imprint: text } });
}

test.for([
  ['a name', <TextField name="username" label="Name" autocomplete="username" value="" problems={[]} />, 'none'],
  [
    'an address',
    <TextField name="email" label="Email" autocomplete="email" value="" keyboard="email" problems={[]} />,
    'none',
  ],
  ['a code', <TextField name="code" label="Code" autocomplete="off" value="" isCode problems={[]} />, 'characters'],
  [
    'a password',
    <PasswordField name="p" label="Password" autocomplete="off" translations={english} problems={[]} />,
    'none',
  ],
] as const)('browsers are told not to autocorrect or spell-check %s', ([, field, capitals]) => {
  const [input] = /<input [^>]*>/.exec(render(field)) ?? expect.fail('no input');
  expect(input).toContain(` autocapitalize="${capitals}" `);
  expect(input).toContain(' autocorrect="off" ');
  expect(input).toContain(' spellcheck="false" ');
});

describe.each(catalog.languages)('in language %s', (language) => {
  const translations = catalog.in(language);

  test.each(ERROR_CODES)('the error page of %s shows the problem, its code and the request ID', (code) => {
    const problem = { code, requestId: 'POST-71', link: { kind: 'home', href: '/' } } as const;
    const title = problemTitle(translations, code);
    const page = render(<ProblemPage translations={translations} problem={problem} />, { translations, title });
    expectCleanPage(page);
    expect(textOf(page)).toContain(title);
    expect(textOf(page)).toContain(code);
    expect(textOf(page)).toContain('POST-71');
  });

  test.each(['ended', 'locked', 'deactivated'] satisfies DeadSessionKind[])(
    'the page of a session that is %s signs out and preserves the continuation',
    (kind) => {
      const page = render(
        <DeadSessionPage
          translations={translations}
          kind={kind}
          username="amira"
          logoutPath="/logout"
          csrf="token"
          action={{ kind: 'change_password' }}
        />,
        { translations, title: deadSessionTitle(translations, kind) },
      );
      expectCleanPage(page);
      expect(page).toContain('<form class="form" method="post" action="/logout"');
      expect(page).toContain('<input type="hidden" name="kind" value="change_password"/>');
    },
  );

  test('every component renders', () => {
    expectCleanPage(samplePage(translations, 'Harbour Chat'));
  });
});

describe('a page', () => {
  test.each(HOSTILE_TEXTS)('shows %.30j as text in any place (S-74)', (text) => {
    const page = samplePage(english, text);
    expectCleanPage(page);
    expect(tagsOf(page)).toEqual(tagsOf(samplePage(english, 'harmless')));
  });

  test('has the step and the service in its title, and "Error" after a rejected form', () => {
    expect(render(<h1>x</h1>, { title: 'Sign in' })).toContain('<title>Sign in – example.org</title>');
    expect(render(<h1>x</h1>, { title: 'Sign in', isRejected: true })).toContain(
      '<title>Error: Sign in – example.org</title>',
    );
  });

  test('declares its language and direction, including right to left', () => {
    const arabic = catalogOf({ en, ar: {} }).in('ar');
    expect(render(<h1>x</h1>, { translations: arabic })).toContain('<html lang="ar" dir="rtl">');
  });

  test("loads its files under the build's names, below the path of the public base", () => {
    expect(render(<h1>x</h1>)).toContain('<link rel="stylesheet" href="/assets/pages-0a1b2c3d.css"/>');
    expect(assetPaths('/auth/', {}).assetPath('pages.js')).toBe('/auth/assets/pages.js');
  });

  test('loads the strength meter only where a password is chosen (browser-flows 5.7)', () => {
    expect(render(<h1>x</h1>)).not.toContain('strength');
    expect(render(<h1>x</h1>, { hasNewPassword: true })).toContain(
      '<script src="/assets/strength.js" data-estimator="/assets/strength-estimator.js" defer></script>',
    );
  });

  test('has a menu of the languages by their own names, which works without scripts and marks the current one', () => {
    const page = render(<h1>x</h1>, { translations: catalog.in('fr') });
    const [menu = ''] = /<nav class="languages" aria-label="Langues">.*<\/nav>/s.exec(page) ?? [];
    expect(menu).toMatch(/<details><summary>.*Français.*<\/summary>/s);
    const entries = [
      ...menu.matchAll(/<a href="([^"]*)" lang="([^"]*)" hreflang="([^"]*)"( aria-current="true")?>([^<]*)</g),
    ];
    expect(
      entries.map(([, href, lang, hreflang, current, name]) => [href, lang, hreflang, current !== undefined, name]),
    ).toEqual(BUNDLED_LANGUAGES.map((tag) => [`/login?ui_locales=${tag}`, tag, tag, tag === 'fr', languageName(tag)]));
    expect(languageName('fr')).toBe('Français');
    // A language of the operator.
    expect(languageName('cy')).toBe('Cymraeg');
  });

  test('the menu of languages stays within 5 KiB, and 1 KiB compressed (browser-flows 12.1)', () => {
    const links = Array.from({ length: 30 }, (_, index) => {
      const language = BUNDLED_LANGUAGES[index % BUNDLED_LANGUAGES.length] ?? 'en';
      const action = 'kind=continue_authorization_grant&id=01HZX7T3Q8V3M5N6P7R8S9T0AB';
      return { language, href: `/login?${action}&ui_locales=${language}` };
    });
    const [withMenu, without] = [links, []].map((languageLinks) => Buffer.from(render(<h1>x</h1>, { languageLinks })));
    expect((withMenu?.length ?? 0) - (without?.length ?? 0)).toBeLessThanOrEqual(5 * 1024);
    expect(gzipSync(withMenu ?? '').length - gzipSync(without ?? '').length).toBeLessThanOrEqual(1024);
  });

  test('has no footer without content for it', () => {
    const bare: Site = { serviceName: 'x', indexPath: '/', ...assetPaths('/', {}) };
    expect(render(<h1>x</h1>, { site: bare, languageLinks: [] })).not.toContain('<footer');
  });
});

describe('a rejected form', () => {
  const page = samplePage(english, 'x');

  test('lists its problems first, focuses them and links to the fields', () => {
    expect(page).toMatch(/<div [^>]*role="alert"[^>]*autofocus/);
    expect(page).toContain('<a href="#username">Enter a name.</a>');
  });

  test('marks the field and associates the error with it', () => {
    expect(page).toMatch(/<input [^>]*id="username"[^>]*aria-invalid="true"[^>]*aria-describedby="username-error"/);
    expect(page).toContain(
      '<div class="field-error" id="username-error"><p data-error-code="required">Enter a name.</p></div>',
    );
  });

  test('shows the code of each problem exactly once', () => {
    expect(page.match(/data-error-code="required"/g)).toHaveLength(1);
    expect(page.match(/data-error-code="csrf_expired"/g)).toHaveLength(1);
  });
});

describe("the developer's error description", () => {
  const problem = { code: 'invalid_redirect_uri', requestId: 'GET-3', link: { kind: 'home', href: '/' } } as const;
  const description = 'the redirect URI <https://elsewhere.example/> is not registered';

  test('is shown below the code in English, without markup (browser-flows 10)', () => {
    const german = catalog.in('de');
    const content = <ProblemPage translations={german} problem={{ ...problem, description }} />;
    const page = render(content, { translations: german });
    expectCleanPage(page);
    expect(page).toMatch(
      /<code>invalid_redirect_uri<\/code><\/dd><dt>[^<]+<\/dt><dd lang="en" dir="ltr">the redirect URI &lt;/,
    );
    expect(textOf(page)).toContain(description);
  });

  test('is absent when there is nothing to fix', () => {
    expect(render(<ProblemPage translations={english} problem={problem} />)).not.toContain('<dd lang="en"');
  });
});

describe('names chosen by others', () => {
  test.each([
    ['  Harbour \n Chat ', 'Harbour Chat'],
    ['a\u202Eb\u200Bc\u0007\u2066d\u{E0041}', 'abcd'],
    ['\u3164\u115F\u2800', ''],
    ['x'.repeat(61), `${'x'.repeat(59)}…`],
    ['🙂'.repeat(60), '🙂'.repeat(60)],
  ])('%j is shown as %j', (name, shown) => {
    expect(cleanName(name)).toBe(shown);
  });

  test('an account with an invisible display name is shown by its identifier', () => {
    const page = render(<AccountCard displayName={'\u3164'} identifier="amira" />);
    expect(page).toContain('<bdi class="name">amira</bdi>');
  });
});

describe('the scope list', () => {
  const list = (scopes: string[]) => textOf(render(<ScopeList translations={english} scopes={scopes} />));

  test('lists administration first, highlighted in words, and hides technical scopes (browser-flows 9.1)', () => {
    const scopes = ['openid', 'profile', 'urn:chat:client:api:*', 'urn:chat:client:device:ABCDEFGHIJ', 'urn:mas:admin'];
    const page = render(<ScopeList translations={english} scopes={scopes} />);
    expect(page).not.toContain('urn:');
    expect(page.indexOf('permission-dangerous')).toBeLessThan(page.indexOf('See your name'));
    expect(textOf(page)).toContain('Administer this service It can see and change every account here.');
  });

  test('shows an unknown scope as it was sent', () => {
    expect(list(['https://api.example/<b>'])).toContain('https://api.example/<b>');
  });

  test('has text even when only an identity is requested', () => {
    expect(list(['openid'])).toContain('Confirm who you are');
  });
});

describe('the strength meter', () => {
  const rules = { minimumScore: 3, minimumLength: 8, serviceName: 'example.org' };
  const meter = (minimumScore: number) => {
    const content = (
      <StrengthMeter
        translations={english}
        passwordName="password"
        usernameName="username"
        rules={{ ...rules, minimumScore }}
      />
    );
    return render(content);
  };

  test('is a meter with a label, and absent without scripts (browser-flows 5.7, 12.1)', () => {
    expect(meter(3)).toMatch(/<div class="strength" hidden[^>]*>\s*<div [^>]*role="meter" aria-label="[^"]+"/);
    expect(meter(3)).toContain('aria-valuemin="0" aria-valuemax="4"');
    expect(meter(3)).toContain('aria-live="polite"');
  });

  test('describes for each score whether it is sufficient', () => {
    const words = (minimumScore: number): unknown => {
      const [, list = ''] = /data-words="([^"]*)"/.exec(meter(minimumScore)) ?? [];
      return JSON.parse(list.replaceAll('&quot;', '"'));
    };
    const suffix = ': not strong enough yet';
    expect(words(3)).toEqual([`Very weak${suffix}`, `Weak${suffix}`, `Fair${suffix}`, 'Good', 'Very good']);
    expect(words(0)).toEqual(['Very weak', 'Weak', 'Fair', 'Good', 'Very good']);
  });
});

test('stylesheet and scripts stay within the page weight (browser-flows 12.1): 20 KiB and 40 KiB compressed', () => {
  const size = (name: string) => gzipSync(readFileSync(new URL(`assets/${name}`, import.meta.url))).length;
  expect(size('pages.css')).toBeLessThanOrEqual(20 * 1024);
  expect(size('pages.js') + size('strength.js') + size('passkey.js') + size('add-passkey.js')).toBeLessThanOrEqual(
    40 * 1024,
  );
});
