import { describe, expect, test } from 'vitest';
import { load, problemsOf } from './fixture.test-support.ts';
import { BUNDLED_PAGE_TEMPLATE } from './page-template.ts';

const YAML = 'templates:\n  path: looks\n';

/** Returns the problems of a template without the directory and the location of the setting. */
function problemsIn(template: string | Buffer, name = 'page.html'): string[] {
  const found = problemsOf({ files: { 'latchkey.yaml': YAML, [`looks/${name}`]: template } });
  return found.map((line) => {
    const [, message] = /^templates\.path: .*\/looks\/(.*) \(latchkey\.yaml:2:9\)$/.exec(line) ?? [];
    return message ?? line;
  });
}

describe('custom templates (browser-flows 12.4)', () => {
  test('a file with the name of a bundled one replaces it', () => {
    const files = { 'latchkey.yaml': YAML, 'looks/page.html': BUNDLED_PAGE_TEMPLATE, 'looks/notes.txt': '{{ x }}' };
    expect(load({ files }).config.templates.page).toBeDefined();
    expect(load({ files: { 'latchkey.yaml': YAML, 'looks/notes.txt': '' } }).config.templates.page).toBeUndefined();
  });

  test('an unknown variable is an error at startup, with its line and column', () => {
    expect(problemsIn('<div>\n  {{ content }} {{ user }}\n</div>')).toEqual([
      'page.html:2:17: unknown variable "user"; available: brand, content, footer, index_path, language, page_class, service_name',
    ]);
  });

  test.each([
    ['<script>alert(1)</script>{{ content }}', ['page.html:1:1: <script> is not allowed in a template']],
    ['<SCRIPT src="/x.js"></SCRIPT>{{ content }}', ['page.html:1:1: <script> is not allowed in a template']],
    ['<style>p { color: red }</style>{{ content }}', ['page.html:1:1: <style> is not allowed in a template']],
    ['<form>{{ content }}</form>', ['page.html:1:1: <form> is not allowed in a template']],
    [
      '<p onclick="x()" style="color: red">{{ content }}</p>',
      [
        'page.html:1:4: inline scripts (onclick) are blocked by the browser',
        'page.html:1:18: inline styles are blocked by the browser; use the CSS classes of the pages',
      ],
    ],
    [
      `{{ content }}<a href=' JavaScript:alert(1)'>x</a>`,
      ['page.html:1:17: a URL with code or data (href) is not allowed'],
    ],
    ['<div>{{ content }}', ['page.html:1:1: <div> is not closed']],
    [
      '<div><p>{{ content }}</div></p>',
      ['page.html:1:22: </div> does not close an element', 'page.html:1:28: </p> does not close an element'],
    ],
    [
      '{{ content }}<p class=x>y</p>',
      ['page.html:1:14: not well-formed: expected a tag with quoted attribute values, or &lt;'],
    ],
    ['{{ content }} 1 < 2', ['page.html:1:17: not well-formed: expected a tag with quoted attribute values, or &lt;']],
    ['{{ content }}<!-- ', ['page.html:1:14: not well-formed: expected a tag with quoted attribute values, or &lt;']],
  ])('%j is rejected', (template, expected) => {
    expect(problemsIn(template)).toEqual(expected);
  });

  test.each([
    '<div class="a b" data-x=\'"\' hidden>{{ content }}<br><img src="/assets/logo.svg" alt=""/></div>',
    '<!-- <script> -->\n<a href="{{ index_path }}">x &lt; y</a>{{ content }}',
  ])('%j is accepted', (template) => {
    expect(problemsIn(template)).toEqual([]);
  });

  test('a template that replaces nothing, is not valid text, or is too large is rejected', () => {
    expect(problemsIn(BUNDLED_PAGE_TEMPLATE, 'pages.html')).toEqual([
      'pages.html does not replace a template; expected page.html',
    ]);
    expect(problemsIn(Buffer.from([0xff]))).toEqual(['page.html is not UTF-8']);
    expect(problemsIn(`{{ content }}${' '.repeat(64 * 1024)}`)).toEqual(['page.html is larger than 64 KiB']);
  });

  test('a directory in place of the template is rejected', () => {
    const files = { 'latchkey.yaml': YAML, 'looks/page.html/x': '' };
    expect(problemsOf({ files }).join()).toMatch(/looks\/page\.html is not a file \(latchkey\.yaml:2:9\)$/);
  });

  test('a missing directory is rejected', () => {
    expect(problemsOf({ files: { 'latchkey.yaml': YAML } }).join()).toMatch(
      /^templates\.path: cannot read the directory .*\/looks: no such file \(latchkey\.yaml:2:9\)$/,
    );
  });
});

describe('custom emails (browser-flows 11)', () => {
  test('files with the names of bundled emails replace parts of them; other files are ignored', () => {
    const files = {
      'latchkey.yaml': YAML,
      'looks/emails/recovery.subject': 'Your new password\n',
      'looks/emails/recovery.txt': 'Hello {{ username }}: {{ link }}',
      'looks/emails/new_signin.html': '<p style="color: red">{{ heading }}</p>{{ details }}',
      'looks/emails/notes.md': '{{ x }}',
    };
    const { mails } = load({ files }).config.templates;
    expect(Object.entries(mails).map(([name, parts]) => [name, Object.keys(parts)])).toEqual([
      ['new_signin', ['html']],
      ['recovery', ['subject', 'txt']],
    ]);
  });

  test.each([
    ['recovery.txt', 'Hello', ['recovery.txt:1:1: must contain {{ link }}']],
    ['verification.html', '<p>x</p>', ['verification.html:1:1: must contain {{ code }}']],
    ['recovery.subject', 'one\ntwo', ['recovery.subject:1:1: expected one line']],
    [
      'new_signin.txt',
      'x\n  {{ ticket }}',
      [
        'new_signin.txt:2:3: unknown variable "ticket"; available: address, code, details, direction, heading, ' +
          'imprint, language, link, link_label, paragraphs, service_name, subject, username',
      ],
    ],
    ['new_signin.txt', '{{ heading }', ['new_signin.txt:1:1: expected {{ name }}: unbalanced braces']],
    [
      'new_signin.html',
      '<script>x()</script><img src="https://evil.example/">',
      [
        'new_signin.html:1:1: <script is not allowed in an email: it runs code or loads a resource',
        'new_signin.html:1:21: <img is not allowed in an email: it runs code or loads a resource',
        'new_signin.html:1:25: src= is not allowed in an email: it runs code or loads a resource',
      ],
    ],
    [
      'new_signin.html',
      '<p onclick="x()" style="background:url(https://evil.example)">x</p>',
      [
        'new_signin.html:1:3: onclick= is not allowed in an email: it runs code or loads a resource',
        'new_signin.html:1:36: url( is not allowed in an email: it runs code or loads a resource',
      ],
    ],
  ])('%s with %j is rejected at startup', (name, text, expected) => {
    expect(problemsIn(text, `emails/${name}`)).toEqual(expected.map((line) => `emails/${line}`));
  });

  test('a misspelled name is rejected, since its file would have no effect', () => {
    expect(problemsIn('x', 'emails/recover.txt')[0]).toMatch(
      /^emails\/recover\.txt does not replace a template; the emails are /,
    );
  });
});
