import { HOSTS } from '../../src/providers/hosts.ts';
import type { Recording } from './recording.ts';

/** One way to replay a recording: as which provider's response, and optionally with the stream cut into arbitrary pieces. */
export interface Play {
  /** Both the id of our model and its name upstream; unique to this play. */
  readonly id: string;
  readonly recording: Recording;
  /** The provider's id in the settings. */
  readonly provider: string;
  readonly as: string;
  readonly isCut: boolean;
}

/** Returns the plays: every recording as it is, streams also in small pieces, and the relayed dialect also as an unknown host. */
export function playsOf(recordings: readonly Recording[]): Play[] {
  return recordings.flatMap((recording, index) =>
    providersOf(recording).flatMap((provider) =>
      (recording.isStream ? [false, true] : [false]).map((isCut) => ({
        id: `recording-${index}-${provider}${isCut ? '-cut' : ''}`,
        recording,
        provider,
        as: provider.replace(/^as-/u, ''),
        isCut,
      })),
    ),
  );
}

/** Returns the settings of all providers that plays may need. */
export function providerSettings(origin: string): Record<string, Record<string, string>> {
  const hosts = Object.keys(HOSTS).map((id) => [`as-${id}`, { like: id, dialect: 'openai', base_url: `${origin}/chat` }] as const);
  return {
    ...Object.fromEntries(hosts),
    'as-unknown': { dialect: 'openai', base_url: `${origin}/chat` },
    'as-messages': { dialect: 'anthropic', base_url: `${origin}/messages`, api_key: 'key' },
    'as-converse': { dialect: 'bedrock', base_url: `${origin}/converse`, api_key: 'key' },
    'as-generate-content': { dialect: 'gemini', base_url: `${origin}/generate-content`, api_key: 'key' },
  };
}

/** Other names for our hosts. */
const OTHER_NAMES: Readonly<Record<string, string>> = { alibaba: 'dashscope', moonshotai: 'moonshot', togetherai: 'together' };

function providersOf({ framing, name }: Recording): string[] {
  if (framing !== 'chat') return [`as-${framing}`];
  const [word = ''] = name.split(/[-_.]/u);
  const host = OTHER_NAMES[word] ?? word;
  return Object.hasOwn(HOSTS, host) ? [`as-${host}`, 'as-unknown'] : ['as-unknown'];
}
