/**
 * Returns an SQL condition: the provider is configured and enabled.
 * @param provider alias of `upstream_providers`
 */
export function providerIsEnabled(provider: string): string {
  return `${provider}.disabled_at is null`;
}
