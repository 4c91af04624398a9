import { fieldNames } from './strings/index.ts';

/** What a refused request tells people. */
export interface Refusal {
  readonly message: string;
  /** The message without the field's name, to be shown next to the field. */
  readonly fieldMessage: string;
}

/** Reads a message. Programs are told the field that is wrong by a prefix, `amountUsd: must be …`; people are told its name on the page. */
export function readRefusal(message: string, field?: string): Refusal {
  const prefix = `${field ?? 'The request'}: `;
  if (!message.startsWith(prefix)) return { message, fieldMessage: message };
  const text = message.slice(prefix.length);
  const fieldMessage = text.charAt(0).toUpperCase() + text.slice(1);
  return { message: field === undefined ? fieldMessage : `${nameOf(field)}: ${text}`, fieldMessage };
}

/** The name of a field such as `budgets.day` or `addresses.2`; `monthlyCapUsd` is called `Monthly cap`. */
function nameOf(field: string): string {
  const last = field.split('.').findLast((part) => /\D/u.test(part)) ?? field;
  const words = last
    .replace(/(?:_usd|Usd|Ms|Id)$/u, '')
    .replaceAll(/_|(?=[A-Z])/gu, ' ')
    .trim()
    .toLowerCase();
  return fieldNames[last] ?? words.charAt(0).toUpperCase() + words.slice(1);
}
