import { describe, expect, test } from 'vitest';
import { BUNDLED_PAGE_TEMPLATE, parsePageTemplate, renderPageTemplate, type TemplateValues } from './page-template.ts';

const VALUES: TemplateValues = {
  brand: '<a href="/">Harbour</a>',
  content: '<main>{{ service_name }}</main>',
  footer: '',
  index_path: '/auth/',
  language: 'en',
  page_class: 'page',
  service_name: `<b> & "Co" '{{ content }}'`,
};

function render(text: string): string {
  const { template, problems } = parsePageTemplate(text);
  expect(problems).toEqual([]);
  return renderPageTemplate(template, VALUES);
}

describe('a page template', () => {
  test('inserts parts as markup and escapes everything else', () => {
    expect(render('<p title="{{ service_name }}">{{brand}}</p>{{ content }}')).toBe(
      '<p title="&lt;b&gt; &amp; &quot;Co&quot; &#39;{{ content }}&#39;"><a href="/">Harbour</a></p>' +
        '<main>{{ service_name }}</main>',
    );
  });

  test('evaluates nothing: only variable names are allowed between braces', () => {
    for (const name of ['7*7', 'content.length', 'constructor', '__proto__', 'brand | upper', '', '#if brand']) {
      const { problems } = parsePageTemplate(`{{ content }}{{ ${name} }}`);
      expect(problems).toEqual([
        {
          offset: 13,
          message: `unknown variable "${name}"; available: brand, content, footer, index_path, language, page_class, service_name`,
        },
      ]);
    }
  });

  test.each([
    ['', 'must contain {{ content }} exactly once, found 0 times', 0],
    ['{{ content }} {{ content }}', 'must contain {{ content }} exactly once, found 2 times', 0],
    ['{{ content }}\n{{ brand', 'expected {{ name }}: unbalanced braces', 14],
    ['{{ content }}}}', 'expected {{ name }}: unbalanced braces', 13],
  ])('%j is rejected', (text, message, offset) => {
    expect(parsePageTemplate(text).problems).toEqual([{ offset, message }]);
  });

  test('the bundled template follows its own rules', () => {
    expect(parsePageTemplate(BUNDLED_PAGE_TEMPLATE).problems).toEqual([]);
  });
});
