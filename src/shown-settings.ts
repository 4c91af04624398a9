import { publicUrlOf, type Config } from './config.ts';
import type { ShownSetting } from './dashboard/messages.ts';
import { DAY_MS } from './durations.ts';
import { formatUsd } from './ledger/money.ts';

/**
 * Returns the current settings for operators. Secrets are shown only as set or not, and addresses that may contain one only as their host.
 */
export function describeSettings(config: Config, port: number): ShownSetting[] {
  const { limits, payments, timeouts } = config;
  const settings: Readonly<Record<ShownSetting['group'], Readonly<Record<string, string | number | boolean | undefined>>>> = {
    service: {
      PUBLIC_URL: new URL(publicUrlOf(config, port)).origin,
      HOST: config.host,
      PORT: port,
      'http.trusted_proxies': config.trustedProxies.join(', ') || undefined,
      DATABASE_URL: secret(config.databaseUrl),
      TOLLGATE_DATA: config.databaseUrl === undefined ? config.dataFolder : undefined,
      TOLLGATE_CONFIG: config.settingsFile,
      TOLLGATE_LOG_LEVEL: config.logLevel,
      REDIS_URL: secret(config.redisUrl),
      TOLLGATE_SECRET: secret(config.secret),
      TOLLGATE_METRICS_TOKEN: secret(config.metricsToken),
      'retention.usage_days': config.usageDays,
      'media.fetch': config.fetchesMedia,
      'timeouts.connect_ms': timeouts.connectMs,
      'timeouts.first_byte_ms': timeouts.firstByteMs,
      'timeouts.answer_ms': timeouts.answerMs,
      'timeouts.idle_ms': timeouts.idleMs,
      'timeouts.total_ms': timeouts.totalMs,
      'timeouts.keep_alive_ms': timeouts.keepAliveMs,
      'timeouts.redis_ms': config.redisMs,
    },
    people: {
      'accounts.sign_up': config.signUp,
      'accounts.sign_up_credit_usd': config.signUpCreditUsd,
      'accounts.sign_in': config.signInProviders.map(({ name }) => name).join(', ') || undefined,
      'accounts.mail_from': config.mailFrom,
      SMTP_URL: config.smtpUrl === undefined ? undefined : new URL(config.smtpUrl).hostname,
    },
    payments: {
      STRIPE_SECRET_KEY: secret(payments.stripe?.secretKey),
      STRIPE_WEBHOOK_SECRET: secret(payments.stripe?.webhookSecret),
      'payments.bank_transfer': secret(payments.bankTransfer),
      'payments.minimum_usd': formatUsd(payments.rules.minimum),
      'payments.maximum_usd': formatUsd(payments.rules.maximum),
      'payments.presets_usd': payments.rules.presets.map(formatUsd).join(', ') || undefined,
      'payments.grace_days': payments.rules.graceMs / DAY_MS,
      'payments.stripe_api_url': payments.stripe?.apiUrl === undefined ? undefined : new URL(payments.stripe.apiUrl).host,
    },
    limits: {
      'limits.requests_per_minute': limits.requestsPerMinute,
      'limits.tokens_per_minute': limits.tokensPerMinute,
      'limits.concurrent': limits.concurrent,
      'limits.account_concurrent': limits.accountConcurrent,
      'limits.memory_mb': config.memoryBytes === undefined ? undefined : config.memoryBytes / 1_000_000,
    },
  };
  return Object.entries(settings).flatMap(([group, rows]) =>
    Object.entries(rows).map(([name, value]) => ({
      group: group as ShownSetting['group'],
      name,
      value: value === undefined ? null : String(value),
    })),
  );
}

function secret(value: string | undefined): string | undefined {
  return value === undefined ? undefined : 'set';
}
