/** The services that people sign in with: one program stands for all, but one that nobody can reach. */
export const UPSTREAM_IDS = {
  there: '01HZX7T3Q8V3M5N6P7R8S9T0AB',
  away: '01HZX7T3Q8V3M5N6P7R8S9T0AC',
  /** Decides what people are called here. */
  deciding: '01HZX7T3Q8V3M5N6P7R8S9T0AD',
  /** Nobody registers without an address, and it tells none. */
  silent: '01HZX7T3Q8V3M5N6P7R8S9T0AE',
  /** Makes no accounts; gives people the one with their name, unless it is somebody else's there. */
  linking: '01HZX7T3Q8V3M5N6P7R8S9T0AF',
  /** Neither makes accounts nor lets people link theirs. */
  closed: '01HZX7T3Q8V3M5N6P7R8S9T0AG',
  /** Makes accounts without a question. */
  unasked: '01HZX7T3Q8V3M5N6P7R8S9T0AH',
};

const account_name = { template: '{{ user.email }}' };
const SUGGESTED = {
  localpart: { action: 'suggest' },
  displayname: { action: 'suggest' },
  email: { action: 'suggest' },
};
const FORCED = { localpart: { action: 'force' }, displayname: { action: 'force' }, email: { action: 'force' } };

/** One that suggests everything; the only one of the journeys. */
export function suggestingService(upstream) {
  return upstream.settings(UPSTREAM_IDS.there, { claims_imports: { ...SUGGESTED, account_name } });
}

/** To sign in there is to register. */
export function unaskedService(upstream) {
  return upstream.settings(UPSTREAM_IDS.unasked, {
    claims_imports: {
      localpart: { action: 'require' },
      displayname: { action: 'force' },
      email: { action: 'force' },
      skip_confirmation: true,
    },
  });
}

/** Those of the pages. */
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

/** Where they send people back to. */
export function redirectUris(base) {
  return Object.values(UPSTREAM_IDS).map((id) => `${base}upstream/callback/${id}`);
}

/** To one of them, whose pages ask for a font from the internet. */
export async function leaveFor(page, { upstreamBase }, id = UPSTREAM_IDS.there) {
  await blockFonts(page);
  await page.goto(`${upstreamBase}upstream/authorize/${id}`);
}

export async function blockFonts(page) {
  await page.route(/^https:/, (route) => route.fulfill({ contentType: 'text/css', body: '' }));
}
