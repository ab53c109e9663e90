/** The sign-in providers: one program acts as all of them, except one that is unreachable. */
export const UPSTREAM_IDS = {
  there: '01HZX7T3Q8V3M5N6P7R8S9T0AB',
  away: '01HZX7T3Q8V3M5N6P7R8S9T0AC',
  /** Determines the names of users here. */
  deciding: '01HZX7T3Q8V3M5N6P7R8S9T0AD',
  /** Registration requires an address, and this provider returns none. */
  silent: '01HZX7T3Q8V3M5N6P7R8S9T0AE',
  /**
   * Creates no accounts; links users to the account with their name, unless it is already linked to another user there.
   */
  linking: '01HZX7T3Q8V3M5N6P7R8S9T0AF',
  /** Allows neither registration nor linking. */
  closed: '01HZX7T3Q8V3M5N6P7R8S9T0AG',
  /** Creates accounts without a prompt. */
  unasked: '01HZX7T3Q8V3M5N6P7R8S9T0AH',
};

const account_name = { template: '{{ user.email }}' };
const SUGGESTED = {
  localpart: { action: 'suggest' },
  displayname: { action: 'suggest' },
  email: { action: 'suggest' },
};
const FORCED = { localpart: { action: 'force' }, displayname: { action: 'force' }, email: { action: 'force' } };

/** A provider that suggests all attributes; the only one in the journeys. */
export function suggestingService(upstream) {
  return upstream.settings(UPSTREAM_IDS.there, { claims_imports: { ...SUGGESTED, account_name } });
}

/** Signing in there registers the user. */
export function unpromptedService(upstream) {
  return upstream.settings(UPSTREAM_IDS.unasked, {
    claims_imports: {
      localpart: { action: 'require' },
      displayname: { action: 'force' },
      email: { action: 'force' },
      skip_confirmation: true,
    },
  });
}

/** The providers for the pages. */
export function upstreamServices(upstream) {
  const { deciding, silent, linking, closed, away } = UPSTREAM_IDS;
  return [
    suggestingService(upstream),
    upstream.settings(away, { issuer: 'http://127.0.0.1:1', human_name: 'Lighthouse' }),
    upstream.settings(deciding, { human_name: 'Harbour Office', brand_name: 'keycloak', claims_imports: FORCED }),
    upstream.settings(silent, {
      human_name: 'Shipyard',
      scope: 'openid profile',
      claims_imports: { email: { action: 'require' } },
    }),
    upstream.settings(linking, {
      human_name: 'Net Loft',
      registration_enabled: false,
      claims_imports: { localpart: { action: 'require', on_conflict: 'set' } },
    }),
    upstream.settings(closed, { human_name: 'Fish Market', registration_enabled: false, linking_enabled: false }),
  ];
}

/** Returns their redirect URIs. */
export function redirectUris(base) {
  return Object.values(UPSTREAM_IDS).map((id) => `${base}upstream/callback/${id}`);
}

/** Navigates to one of them; its pages request a font from the internet, which is blocked. */
export async function leaveFor(page, { upstreamBase }, id = UPSTREAM_IDS.there) {
  await blockFonts(page);
  await page.goto(`${upstreamBase}upstream/authorize/${id}`);
}

export async function blockFonts(page) {
  await page.route(/^https:/, (route) => route.fulfill({ contentType: 'text/css', body: '' }));
}
