import { isObject, type JsonObject } from '../../openai/types.ts';
import { parseDataUrl, parseImageUrl, type Part } from '../content.ts';
import { refusal } from '../dialect.ts';
import type { CachePoints } from './cache-points.ts';
import type { Capabilities } from './capabilities.ts';
import { lookUp } from '../look-up.ts';

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

/** Encodes message parts. One instance per conversation, because document names must be unique in it. */
export class PartEncoder {
  readonly #capabilities: Capabilities;
  readonly #documentNames = new Set<string>();
  /**
   * The last number appended to each name. Counting from one for every document would take minutes with a few thousand
   * of the same name.
   */
  readonly #documentNumbers = new Map<string, number>();
  readonly #points: CachePoints;

  constructor(capabilities: Capabilities, points: CachePoints) {
    this.#capabilities = capabilities;
    this.#points = points;
  }

  /** Encodes the parts of a message. `param` names the message in refusals. */
  encode(parts: readonly Part[], param: string): JsonObject[] {
    return parts.flatMap((part, index) => {
      const block = this.#encodePart(part, `${param}.content[${index}]`);
      if (block === undefined) return [];
      const { document } = block;
      const point = isObject(document)
        ? this.#points.afterDocument(part.isCacheBreak, document['format'])
        : this.#points.after(part.isCacheBreak);
      return [block, ...point];
    });
  }

  #encodePart(part: Part, param: string): JsonObject | undefined {
    switch (part.type) {
      case 'text':
        // Blank text blocks are refused.
        return part.text.trim() === '' ? undefined : { text: part.text };
      case 'image':
        return this.#encodeImage(part.url, param);
      case 'file':
        return this.#encodeFile(part, param);
      case 'audio':
        throw refusal(param, 'This model does not accept audio.');
      case 'unknown':
        throw refusal(param, `This model does not accept content of type '${part.name}'.`);
    }
  }

  #encodeImage(url: string, param: string): JsonObject {
    if (!this.#capabilities.hasImages) throw refusal(param, 'This model does not accept images.');
    // Converse could also read from a bucket, but with the operator's rights, so no caller may name one.
    const inline = parseImageUrl(url);
    const format = lookUp(IMAGE_FORMATS, inline?.mediaType);
    if (inline === undefined || format === undefined)
      throw refusal(param, 'Images must be PNG, JPEG, GIF or WebP, sent inline as a data URL.');
    return { image: { format, source: { bytes: inline.data } } };
  }

  #encodeFile({ name, url, id }: Extract<Part, { type: 'file' }>, param: string): JsonObject {
    if (id !== undefined) throw refusal(param, "This model does not accept file ids. Send the file itself as 'file_data'.");
    const inline = parseDataUrl(url ?? '');
    if (inline === undefined) throw refusal(param, "'file_data' must be a base64 data URL.");
    if (lookUp(IMAGE_FORMATS, inline.mediaType) !== undefined) return this.#encodeImage(url ?? '', param);
    if (!this.#capabilities.hasDocuments) throw refusal(param, 'This model does not accept files.');
    const ending = /\.(\w+)$/u.exec(name ?? '')?.[1]?.toLowerCase() ?? '';
    const format = lookUp(DOCUMENT_FORMATS, inline.mediaType) ?? Object.values(DOCUMENT_FORMATS).find((known) => known === ending);
    if (format === undefined) throw refusal(param, `Files must be one of ${Object.values(DOCUMENT_FORMATS).join(', ')}.`);
    return { document: { name: this.#documentName(name), format, source: { bytes: inline.data } } };
  }

  /** Returns a unique document name. Only a few characters are allowed. */
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
