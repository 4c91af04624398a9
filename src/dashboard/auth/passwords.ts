/** The shortest password, in characters. */
export const PASSWORD_LENGTH_MIN = 10;
/** The longest password, in characters. */
export const PASSWORD_LENGTH_MAX = 256;

/**
 * Whether a password is easy to guess: common words disguised with digits and symbols, a row of keys, a repetition, or the
 * person's own address. Length is checked elsewhere. No particular kinds of characters are required.
 */
export function isCommonPassword(password: string, email: string): boolean {
  const text = password.toLowerCase();
  const [local = '', domain = ''] = email.toLowerCase().split('@');
  const own = [email.toLowerCase(), local, domain.split('.')[0] ?? '', 'tollgate'].filter((word) => word.length >= 4);
  const bare = toLetters(text);
  if (isRepetition(text) || isRow(text) || /^\d{1,15}$/u.test(text)) return true;
  // There is no word list for other scripts.
  if (bare === '' || /[^\u0020-\u007e]/u.test(text)) return false;
  return isMadeOfWords(bare) || own.some((word) => bare === toLetters(word));
}

/** Characters that people substitute for letters. */
const SUBSTITUTES: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

/** Returns the letters of a password: strips digits and symbols at both ends, and reads those in between as letters. */
export function toLetters(text: string): string {
  const core = text.replace(/^[^a-z]+/u, '').replace(/[^a-z]+$/u, '');
  return core.replace(/[0134573@$!]/gu, (character) => SUBSTITUTES[character] ?? character).replace(/[^a-z]/gu, '');
}

/** Whether the text repeats one part of up to five characters. */
function isRepetition(text: string): boolean {
  return /^(.{1,5}?)\1+.{0,2}$/su.test(text);
}

const ROWS = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890123456789',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm',
  'q1w2e3r4t5y6u7i8o9p0',
  '1q2w3e4r5t6y7u8i9o0p',
];
const SEQUENCES = ROWS.flatMap((row) => [row, row.split('').toReversed().join('')]);
const ROW_PIECE_MIN = 3;

/** Whether the text consists of pieces of keyboard rows, the alphabet or digits, forwards or backwards. */
function isRow(text: string): boolean {
  let rest = text;
  while (rest.length >= ROW_PIECE_MIN) {
    const length = longestPiece(rest);
    if (length < ROW_PIECE_MIN) return false;
    rest = rest.slice(length);
  }
  return true;
}

function longestPiece(text: string): number {
  for (let length = text.length; length >= ROW_PIECE_MIN; length -= 1) {
    const piece = text.slice(0, length);
    if (SEQUENCES.some((row) => row.includes(piece))) return length;
  }
  return 0;
}

/** Whether the text consists of one to three of the words. */
function isMadeOfWords(bare: string, wordsMax = 3): boolean {
  if (WORDS.has(bare)) return true;
  if (wordsMax === 1) return false;
  for (let length = 2; length < bare.length; length += 1)
    if (WORDS.has(bare.slice(0, length)) && isMadeOfWords(bare.slice(length), wordsMax - 1)) return true;
  return false;
}

/** A selection of the most common words in lists of leaked passwords. */
const WORDS = new Set(
  `password passwort passord motdepasse contrasena parola senha heslo haslo wachtwoord pass word pwd passwd passcode secret secrets geheim
  admin administrator administrador root user username guest demo test tester testing temp temporary default changeme changeit change
  welcome welcom willkommen bienvenue hello hallo hola bonjour letmein login logon signin access open opensesame enter master system server
  qwerty qwertz azerty qwertyuiop asdf asdfgh asdfghjkl zxcvbn zxcvbnm qazwsx qweasd qweasdzxc abc abcd abcde abcdef
  love iloveyou loveyou lovely iloveu ilove you me my the is and a i lover sweet sweetheart honey baby babygirl princess prinzessin angel queen king prince darling
  dragon monkey tiger lion eagle bear wolf shark horse puppy kitten kitty cat dog panther phoenix unicorn butterfly dolphin chicken banana cookie cheese
  chocolate pepper ginger sugar candy coffee orange apple cherry peanut pumpkin flower rose daisy jasmine summer winter spring autumn sunshine rainbow
  sunday monday tuesday wednesday thursday friday saturday january february march april may june july august september october november december
  football soccer baseball basketball hockey tennis golf cricket sports liverpool arsenal chelsea barcelona realmadrid juventus manchester united
  yankees cowboys lakers steelers eagles rangers ferrari porsche mercedes mustang corvette harley yamaha honda toyota
  superman batman spiderman ironman captain america starwars jedi yoda vader pokemon pikachu naruto goku mario zelda minecraft fortnite roblox matrix
  michael jordan daniel david james john robert william thomas andrew joshua matthew anthony jessica ashley amanda jennifer nicole michelle
  charlie george harry peter alex alexander andrea maria anna laura sarah sophie thomas martin stefan markus
  internet computer laptop samsung google facebook twitter instagram youtube whatsapp microsoft windows android iphone nokia apple linux ubuntu
  company business office work money dollar bitcoin crypto bank secure security private account service support manager
  freedom forever family friend friends together happy lucky peace power strong shadow hunter killer ninja warrior soldier ranger cowboy maverick
  trustno trustnoone whatever nothing something anything blink fuckyou fuck asshole bitch sexy pussy hottie
  jesus christ god heaven blessed faith grace church bible
  london paris berlin newyork chicago texas california brasil mexico china india germany deutschland france espana italia canada australia
  correcthorsebatterystaple correcthorse batterystaple star stars moon sun magic merlin diamond silver gold golden crystal purple yellow black white red blue green
  one two three four five six seven eight nine ten hundred new old big little super mega ultra best good bad`
    .split(/\s+/u)
    .filter((word) => word !== ''),
);
