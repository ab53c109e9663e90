import { expect, it } from 'vitest';
import { csvText } from './csv.ts';

it('writes names as text, whatever they contain', () => {
  const rows = [
    ['username', 'note'],
    ['=HYPERLINK("https://evil.example")', '+1'],
    ['-2', '@sum(a1)'],
    ['\t=1', '\r=1'],
    ['\n=1', '＝1'],
    ['Élodie, "Ellie"', 'two\nlines'],
    [null, undefined],
  ];
  expect(csvText(rows)).toBe(
    [
      '\ufeffusername,note',
      `"'=HYPERLINK(""https://evil.example"")",'+1`,
      `'-2,'@sum(a1)`,
      `'\t=1,"'\r=1"`,
      `"'\n=1",'＝1`,
      '"Élodie, ""Ellie""","two\nlines"',
      ',',
      '',
    ].join('\r\n'),
  );
});
