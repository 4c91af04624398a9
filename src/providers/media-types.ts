/** The kind of media that a message part can hold. */
export type MediaKind = 'image' | 'document' | 'audio' | 'video';

/** An offset in a file, and the texts of which one must appear there, in Latin-1. */
type Marker = readonly [offset: number, texts: readonly string[]];

interface Signature {
  /** The media types with this signature. Where there are several, the requested kind decides. */
  readonly types: readonly string[];
  readonly marks: readonly Marker[];
}

const brands = (...names: readonly string[]): readonly Marker[] => [[4, names.map((name) => `ftyp${name}`)]];
const riff = (form: string): readonly Marker[] => [
  [0, ['RIFF']],
  [8, [form]],
];

/** How files begin. Text has no signature and is not fetched: that would be the easiest way to read data not meant for clients. */
const SIGNATURES: readonly Signature[] = [
  { types: ['image/png'], marks: [[0, ['\x89PNG\r\n\x1a\n']]] },
  { types: ['image/jpeg'], marks: [[0, ['\xff\xd8\xff']]] },
  { types: ['image/gif'], marks: [[0, ['GIF87a', 'GIF89a']]] },
  { types: ['image/webp'], marks: riff('WEBP') },
  { types: ['image/heic'], marks: brands('heic', 'heix', 'hevc', 'heim', 'heis') },
  { types: ['image/heif'], marks: brands('mif1', 'msf1', 'heif') },
  { types: ['application/pdf'], marks: [[0, ['%PDF-']]] },
  { types: ['audio/wav'], marks: riff('WAVE') },
  { types: ['audio/aac'], marks: [[0, ['\xff\xf0', '\xff\xf1', '\xff\xf8', '\xff\xf9']]] },
  { types: ['audio/mpeg'], marks: [[0, ['ID3', '\xff\xe2', '\xff\xe3', '\xff\xf2', '\xff\xf3', '\xff\xfa', '\xff\xfb']]] },
  { types: ['audio/flac'], marks: [[0, ['fLaC']]] },
  { types: ['audio/ogg', 'video/ogg'], marks: [[0, ['OggS']]] },
  {
    types: ['audio/aiff'],
    marks: [
      [0, ['FORM']],
      [8, ['AIFF', 'AIFC']],
    ],
  },
  { types: ['audio/m4a'], marks: brands('M4A ', 'M4B ') },
  { types: ['video/quicktime'], marks: brands('qt  ') },
  { types: ['video/mp4', 'audio/mp4'], marks: brands('iso', 'mp4', 'avc1', 'dash', 'M4V ', 'MSNV') },
  { types: ['video/webm', 'audio/webm'], marks: [[0, ['\x1a\x45\xdf\xa3']]] },
  { types: ['video/mpeg'], marks: [[0, ['\0\0\x01\xb3', '\0\0\x01\xba']]] },
];
const SIGNATURE_BYTES_MAX = 16;

/** Returns the kinds that a `Content-Type` allows. Stores that do not know what they hold send `octet-stream`, which allows all. */
export function kindsOfType(contentType: string): readonly MediaKind[] {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === '' || /^(?:application|binary)\/octet-stream$/.test(type)) return ['image', 'document', 'audio', 'video'];
  if (type === 'application/ogg') return ['audio', 'video'];
  const kind = kindOf(type);
  return kind === undefined ? [] : [kind];
}

/** Recognises the media type from the bytes themselves, if it is of one of these kinds. */
export function recogniseMedia(bytes: Buffer, kinds: readonly MediaKind[]): string | undefined {
  const beginning = bytes.toString('latin1', 0, SIGNATURE_BYTES_MAX);
  const matches = ([offset, texts]: Marker): boolean => texts.some((text) => beginning.startsWith(text, offset));
  const types = SIGNATURES.find(({ marks }) => marks.every(matches))?.types ?? [];
  return types.find((type) => kinds.some((kind) => kind === kindOf(type)));
}

function kindOf(type: string): MediaKind | undefined {
  if (type === 'application/pdf') return 'document';
  const family = type.split('/', 1)[0];
  return family === 'image' || family === 'audio' || family === 'video' ? family : undefined;
}
