import { deliverDue, type AlertChannels } from '../alerts/deliver.ts';
import { pruneDeliveries } from '../alerts/deliveries.ts';
import { watchAlerts } from '../alerts/watch.ts';
import { HOUR_MS } from '../durations.ts';
import { every, type Clock } from '../turns.ts';
import { alertEmail } from './emails.ts';
import type { Dependencies } from './dependencies.ts';

const WATCH_MS = 30_000;
const DELIVER_MS = 5000;
const PRUNE_MS = HOUR_MS;

/** Watches the alert rules and delivers alerts until stopped. */
export function startAlertClock(dependencies: Dependencies): Pick<Clock, 'stop'> {
  const { kysely } = dependencies.database;
  const channels = channelsOf(dependencies);
  const fail = (error: unknown): void => dependencies.fail('alerts could not be checked', error);
  const watching = every(WATCH_MS, () => watchAlerts(kysely, Date.now(), fail), fail);
  // A slow mail server does not delay webhooks, nor the other way round.
  const mailing = every(DELIVER_MS, () => deliverDue(kysely, channels, 'mail'), fail);
  const posting = every(DELIVER_MS, () => deliverDue(kysely, channels, 'webhook'), fail);
  const pruning = every(PRUNE_MS, () => pruneDeliveries(kysely, Date.now()), fail);
  watching.run();
  return { stop: async () => void (await Promise.all([watching, mailing, posting, pruning].map((clock) => clock.stop()))) };
}

type ChannelParts = Pick<Dependencies, 'mail' | 'ask' | 'fail'> & { readonly settings: Pick<Dependencies['settings'], 'publicUrl'> };

/** Returns the two channels for alerts: the mail server, and the main thread, which knows which webhook addresses are allowed. */
export function channelsOf({ mail, ask, fail, settings }: ChannelParts): AlertChannels {
  return {
    mail: async (to, message) => {
      await mail.deliver(alertEmail(to, message, `${settings.publicUrl}/alerts`));
      return undefined;
    },
    post: async (posting) => {
      const problem = await ask({ type: 'webhook', posting });
      return typeof problem === 'string' ? problem : undefined;
    },
    fail: (error) => fail('an alert could not be sent', error),
  };
}
