/** Texts of recorded changes, on the page of a key and in the operators' audit log. */
export const changes = {
  none: 'none',
  yes: 'yes',
  no: 'no',
  /** By the name of the recorded field. */
  fields: {
    name: 'Name',
    models: 'Allowed models',
    deniedModels: 'Denied models',
    addresses: 'Allowed IPs',
    tags: 'Tags',
    requestsPerMinute: 'Requests per minute',
    tokensPerMinute: 'Tokens per minute',
    concurrent: 'Concurrent requests',
    expiresAtMs: 'Expires',
    atLimit: 'At the limit',
    limitZone: 'Time zone of limits',
    isDisabled: 'Disabled',
    secret: 'Secret',
    oldSecretUntilMs: 'Old secret valid until',
    'budget.day': 'Daily limit',
    'budget.week': 'Weekly limit',
    'budget.month': 'Monthly limit',
    'budget.total': 'Total limit',
  },
  /** By the recorded value of `atLimit`. */
  atLimit: { stop: 'stop', slow_down: 'slow down' },
} as const;
