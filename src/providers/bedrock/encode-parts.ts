import type { JsonObject } from '../../openai/types.ts';
import { parseDataUrl, type Part } from '../content.ts';
import { refusal } from '../provider.ts';
import type { CachePoints } from './cache-points.ts';
import type { Capabilities } from './capabilities.ts';

const IMAGE_FORMATS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/jpg': 'jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
};

const DOCUMENT_FORMATS: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'text/html': 'html',
  'text/plain': 'txt',
  'text/markdown': 'md',
};
const DOCUMENT_NAME_MAX = 200;

/** What must be known across the parts of a conversation: documents need names of their own. */
export class PartEncoder {
  readonly #able: Capabilities;
  readonly #documentNames = new Set<string>();
  /** The number that was last put behind a name: to count from one for each document of that name would take minutes for some thousands. */
  readonly #documentNumbers = new Map<string, number>();
  readonly #points: CachePoints;

  constructor(able: Capabilities, points: CachePoints) {
    this.#able = able;
    this.#points = points;
  }

  /** The blocks of a message's parts. `param` names the message, for refusals. */
  encode(parts: readonly Part[], param: string): JsonObject[] {
    return parts.flatMap((part, index) => {
      const block = this.#encodePart(part, `${param}.content[${index}]`);
      if (block === undefined) return [];
      return [block, ...this.#points.after(part.isCacheBreak)];
    });
  }

  #encodePart(part: Part, param: string): JsonObject | undefined {
    switch (part.type) {
      case 'text':
        // A block of blanks is refused, and says nothing.
        return part.text.trim() === '' ? undefined : { text: part.text };
      case 'image':
        return this.#encodeImage(part.url, param);
      case 'file':
        return this.#encodeFile(part, param);
      case 'audio':
        throw refusal(param, 'This model does not take audio.');
      case 'unknown':
        throw refusal(param, `This model does not take parts of the type '${part.name}'.`);
    }
  }

  #encodeImage(url: string, param: string): JsonObject {
    if (!this.#able.hasImages) throw refusal(param, 'This model does not take images.');
    // Converse would read a bucket as well, but with the operator's rights: no caller may name one.
    const inline = parseDataUrl(url);
    const format = IMAGE_FORMATS[inline?.mediaType ?? ''];
    if (inline === undefined || format === undefined)
      throw refusal(param, 'Images must be PNG, JPEG, GIF or WebP, and in the request itself.');
    return { image: { format, source: { bytes: inline.data } } };
  }

  #encodeFile({ name, url, id }: Extract<Part, { type: 'file' }>, param: string): JsonObject {
    if (id !== undefined) throw refusal(param, "Files by 'file_id' are not available for this model: send 'file_data'.");
    const inline = parseDataUrl(url ?? '');
    if (inline === undefined) throw refusal(param, "'file_data' must be a data URL in base64.");
    if (IMAGE_FORMATS[inline.mediaType] !== undefined) return this.#encodeImage(url ?? '', param);
    if (!this.#able.hasDocuments) throw refusal(param, 'This model does not take files.');
    const ending = /\.(\w+)$/u.exec(name ?? '')?.[1]?.toLowerCase() ?? '';
    const format = DOCUMENT_FORMATS[inline.mediaType] ?? Object.values(DOCUMENT_FORMATS).find((known) => known === ending);
    if (format === undefined) throw refusal(param, `Files must be one of ${Object.values(DOCUMENT_FORMATS).join(', ')}.`);
    return { document: { name: this.#documentName(name), format, source: { bytes: inline.data } } };
  }

  /** Names may have few signs and must differ from each other. */
  #documentName(name: string | undefined): string {
    const base = (name ?? '')
      .replace(/\.\w+$/u, '')
      .replaceAll(/[^A-Za-z0-9\s\-()[\]]/gu, '-')
      .replaceAll(/\s+/gu, ' ')
      .trim()
      .slice(0, DOCUMENT_NAME_MAX - 10);
    const wanted = base === '' ? 'document' : base;
    let unique = wanted;
    let number = this.#documentNumbers.get(wanted) ?? 1;
    for (; this.#documentNames.has(unique); unique = `${wanted} ${number}`) number += 1;
    this.#documentNumbers.set(wanted, number);
    this.#documentNames.add(unique);
    return unique;
  }
}
