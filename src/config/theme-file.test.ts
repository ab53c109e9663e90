import { expect, test } from 'vitest';
import { load, problemsOf } from './fixture.test-support.ts';

const YAML = 'branding:\n  theme_file: looks/theme.css\n';

function theme(css: string) {
  return load({ files: { 'latchkey.yaml': YAML, 'looks/theme.css': css } }).config.branding.theme;
}

/** Returns the problems without the directory and the location of the setting. */
function problems(css: string | Buffer, yaml = YAML): string[] {
  return problemsOf({ files: { 'latchkey.yaml': yaml, 'looks/theme.css': css } }).map((line) =>
    line
      .replace(/^branding\.theme_file: /, '')
      .replaceAll(/\S*\/looks\//g, '')
      .replace(/ \(latchkey\.yaml:\d+:\d+\)$/, ''),
  );
}

test('branding.theme_file sets colors for light and dark pages, font and corners', () => {
  const css = `/* Harbour
   colors */
:root { --accent: #0B5FA5; --muted:#456; --radius: 4px; --radius-card: 0.25rem; --font: "Noto Sans", sans-serif }
@media (prefers-color-scheme: dark) {
  :root {
    --accent: #8db4ff; /* lighter */
  }
}
`;
  expect(theme(css)).toEqual({
    light: { accent: '#0b5fa5', muted: '#445566' },
    dark: { accent: '#8db4ff' },
    shapes: { radius: '4px', 'radius-card': '0.25rem', font: '"Noto Sans", sans-serif' },
  });
  expect(theme('')).toEqual({ light: {}, dark: {}, shapes: {} });
  expect(load().config.branding.theme).toBeUndefined();
});

test.each([
  [':root { --ground: url(https://evil.example/x) }', 'theme.css:1:9: --ground: expected a color such as #0b5fa5'],
  [':root {\n  --text: red;\n}', 'theme.css:2:3: --text: expected a color such as #0b5fa5'],
  [':root { --text: var(--muted) }', 'theme.css:1:9: --text: expected a color such as #0b5fa5'],
  [':root { --radius: calc(1px) }', 'theme.css:1:9: --radius: expected a length such as 0.5rem or 8px'],
  [':root { --radius: 1px; } body { display: none }', /^theme\.css:1:26: expected ":root \{ \.\.\. \}" or /],
  ['@import "https://evil.example/x.css";', /^theme\.css:1:1: expected ":root/],
  [':root { color: red }', 'theme.css:1:9: expected "--name: value"'],
  [':root { --colour: #fff }', /^theme\.css:1:9: unknown property --colour; available: --ground, /],
  [':root { --font: x, url(y) }', /^theme\.css:1:9: --font: expected font names/],
  [':root { --font: "a\\"b" }', /^theme\.css:1:9: --font: expected font names/],
  ['@media (prefers-color-scheme: dark) { :root { --font: serif } }', /--font cannot differ in the dark scheme$/],
  [':root { --text: #000', /^theme\.css:1:1: expected ":root/],
  [Buffer.from([0xff, 0xfe]), 'the file theme.css is not UTF-8'],
])('the theme %j is refused with its place', (css, message) => {
  expect(problems(css)).toEqual([typeof message === 'string' ? message : expect.stringMatching(message)]);
});

test('colors that are hard to read are refused, with the pair and its contrast, in either scheme', () => {
  expect(problems(':root { --muted: #999999 }')).toEqual([
    'theme.css: --muted #999999 on --ground #f4f6f5 in the light scheme: the contrast is 2.62:1 and must be at least 4.5:1',
    'theme.css: --muted #999999 on --surface #ffffff in the light scheme: the contrast is 2.84:1 and must be at least 4.5:1',
    'theme.css: --muted #999999 on --sunken #eef1f0 in the light scheme: the contrast is 2.50:1 and must be at least 4.5:1',
  ]);
  expect(problems('@media (prefers-color-scheme: dark) { :root { --control: #222222 } }')).toEqual([
    expect.stringMatching(/^theme\.css: --control #222222 on --surface #161e1c in the dark scheme: .* at least 3:1$/),
  ]);
});

test('a missing file is reported, and an accent color belongs into the theme', () => {
  expect(problemsOf({ files: { 'latchkey.yaml': YAML } })).toEqual([
    expect.stringMatching(/^branding\.theme_file: cannot read .*\/looks\/theme\.css: no such file/),
  ]);
  expect(problems('', `${YAML}  accent_color: "#0b5fa5"\n`)).toEqual([
    'cannot be combined with "accent_color"; set --accent in the file',
  ]);
});
