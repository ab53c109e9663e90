import { describe, expect, test } from 'vitest';
import { assetPaths } from '#browser/asset-files.ts';
import { renderPage } from '#browser/layout.tsx';
import { catalog } from '#test/support/samples.ts';
import { ConsentPage } from './consent.page.tsx';
import { decisionProps } from './samples.tsx';

const site = { serviceName: 'example.org', indexPath: '/', ...assetPaths('/', {}) };

describe("the client's privacy policy and terms", () => {
  function rules(addresses: { policyUri?: string; tosUri?: string }): string[] {
    const english = catalog.in('en');
    const props = decisionProps({ translations: english, token: 'x', text: 'Harbour Chat' });
    const client = { ...props.client, policyUri: undefined, tosUri: undefined, ...addresses };
    const page = renderPage(
      { site, translations: english, title: 'test' },
      <ConsentPage {...props} client={client} problems={[]} />,
    );
    return page.match(/<a [^>]*target="_blank"[^>]*>[^<]*<\/a>/g) ?? [];
  }

  test('open in a new tab without referrer or opener', () => {
    const addresses = { policyUri: 'https://app.example.org/privacy', tosUri: 'https://app.example.org/terms' };
    expect(rules(addresses)).toEqual([
      '<a href="https://app.example.org/privacy" target="_blank" rel="noopener noreferrer">Privacy</a>',
      '<a href="https://app.example.org/terms" target="_blank" rel="noopener noreferrer">Terms</a>',
    ]);
  });

  test.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'http://app.example.org/',
    'blob:https://app.example.org/x',
    '/',
  ])('are omitted when their URL is %s (S-74)', (address) => {
    expect(rules({ policyUri: address, tosUri: address })).toEqual([]);
  });
});
