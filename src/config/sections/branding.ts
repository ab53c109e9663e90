import type { z } from 'zod';
import type { BrandingConfig } from '../config.ts';
import { hint } from '../schema/hints.ts';
import { bool, choice, mapping, text, webUrl } from '../schema/values.ts';

export const brandingSection = mapping({
  service_name: hint(text({ maximum: 100 }), { defaultText: 'host of `http.public_base`' })
    .optional()
    .describe('Name of the service on its pages.'),
  policy_uri: webUrl().optional().describe('Privacy policy, linked in the footer.'),
  tos_uri: webUrl().optional().describe('Terms of service, linked in the footer.'),
  imprint: text({ maximum: 500 }).optional().describe('Line in the footer, for example who runs the service.'),
  login_message: text({ maximum: 500 }).optional().describe('Plain text above the sign-in form.'),
  show_technical_info: bool().prefault(true).describe('The index page names the discovery document.'),
});

export function brandingConfig(parsed: z.output<typeof brandingSection>, publicBase: string): BrandingConfig {
  return {
    serviceName: parsed.service_name ?? new URL(publicBase).hostname,
    policyUri: parsed.policy_uri,
    tosUri: parsed.tos_uri,
    imprint: parsed.imprint,
    loginMessage: parsed.login_message,
    showTechnicalInfo: parsed.show_technical_info,
  };
}

export const indexSection = mapping({
  redirect: webUrl().optional().describe('Where anonymous visitors of the index page are sent.'),
});

export const i18nSection = mapping({
  default_language: choice(['en', 'de'])
    .prefault('en')
    .describe('Language of pages when the reader wants none that is there.'),
});
