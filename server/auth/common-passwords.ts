/** Passwords that attackers guess first. The server queries no external list; forms cover more passwords than words. */
const WORDS = new Set(
  `abc access account admin administrator alcove alexander amanda america andrea andrew angel angels anthony apple arsenal
  asdf ashley asshole austin baby babygirl backup banana barcelona baseball basketball batman beautiful berlin blink bitch
  blessed bonjour bubbles buddy butterfly caroline changeme charlie cheese chelsea chicken chocolate christ christian
  christopher computer cookie corvette cowboy cowboys daniel default delete demo diamond dolphin donald dragon eagles
  elephant elizabeth eminem everton facebook family ferrari flower flowers football forever france frankfurt freedom friend
  friends fuck fucker fuckme fuckoff fuckyou gabriel gandalf garfield george germany ginger goodluck google guest guitar
  hallo hamburg hannah harley harrypotter heaven hello helloworld hockey hottie house hunter iceman iloveu iloveyou india
  internet jackson jasmine jennifer jessica jesus jonathan jordan joshua justin killer kitty knight ladybug lauren letmein
  linkedin liverpool login london love lovely loveme lover loveyou lucky mama manager marina marlboro master matrix matthew
  maverick mercedes merlin michael michelle mickey microsoft minecraft monika monkey monster mother mustang mynoob naruto
  nathan newyork nicole nintendo nirvana nothing october office oliver orange pakistan paris pass passord passwd passwort
  password patrick peanut pepper phoenix player please pokemon porsche prince princess private purple qwerty qwertz rachel
  raiders rainbow ranger rebecca richard robert rockyou ronaldo root samantha samsung scooter secret security september
  server service shadow silver slipknot snoopy soccer softball spiderman spring starwars steelers stella stephanie steven
  strawberry sugar summer sunflower sunshine superman support sweet sweety system taylor temp tennis test tester testing
  thomas thunder tigger tinkerbell tottenham trustno trustnoone tweety unicorn user vanessa vegeta victoria visitor volcom
  welcome whatever whocares william wilkommen willkommen windows winter wizard wordpass yankees zaq`.split(/\s+/),
)

const RUNS = [
  '01234567890', 'abcdefghijklmnopqrstuvwxyz', 'qwertyuiop', 'qwertzuiop', 'azertyuiop', 'asdfghjkl', 'zxcvbnm', 'yxcvbnm',
  '1q2w3e4r5t6y7u8i9o0p', '1q2w3e4r5t6z7u8i9o0p', '1qaz2wsx3edc4rfv5tgb6yhn7ujm', 'qazwsxedcrfvtgbyhnujm', '147258369',
  '!@#$%^&*()', 'q1w2e3r4t5y6', 'a1b2c3d4e5f6', '741852963',
].flatMap((run) => [run, Array.from(run).toReversed().join('')]) // prettier-ignore
const MIN_RUN_LENGTH = 3
const MAX_ADDED_LENGTH = 5
const MAX_LENGTH = 72

const LETTERS_FOR: Readonly<Record<string, string>> = {
  '0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '@': 'a', $: 's', '!': 'i',
} // prettier-ignore
const readLetters = (text: string): string => text.replace(/[013457@$!]/g, (sign) => LETTERS_FOR[sign] ?? sign)

/** For example `qwerty123`, `abcd4321`. */
function isMadeOfRuns(text: string): boolean {
  // Each reachable end position of a run is visited once, which bounds the time.
  const reached = new Set([0])
  for (let from = 0; from < text.length; from += 1) {
    if (!reached.has(from)) continue
    for (let to = from + MIN_RUN_LENGTH; to <= text.length; to += 1) {
      if (isRun(text.slice(from, to))) reached.add(to)
    }
  }
  return reached.has(text.length)
}
const isRun = (text: string): boolean => RUNS.some((run) => run.includes(text)) || /^(.{1,4})\1+$/.test(text)

const isLongRun = (text: string): boolean => text.length > MAX_ADDED_LENGTH && isMadeOfRuns(text)

function isWord(text: string): boolean {
  const [, once] = /^(.{3,}?)\1*$/.exec(text) ?? []
  return WORDS.has(text) || (once !== undefined && WORDS.has(once))
}

export function isCommonPassword(password: string): boolean {
  if (password.length > MAX_LENGTH) return false
  const plain = password.normalize('NFKC').toLowerCase()
  // Typical additions to a word: a year, a number or a sign.
  const [, before = '', core = '', after = ''] = /^([^a-z]*)(.*?)([^a-z]*)$/s.exec(plain) ?? []
  const isLittleAdded = [before, after].every((added) => added.length <= MAX_ADDED_LENGTH || isMadeOfRuns(added))
  const isDate = /^(19|20)\d{2}[01]\d[0-3]\d$|^[0-3]\d[0-3]\d(19|20)\d{2}$/.test(plain)
  const words = [core, readLetters(core), readLetters(`${before}${core}`)]
  return (
    isDate ||
    isMadeOfRuns(plain) ||
    isWord(readLetters(plain)) ||
    (isLittleAdded && words.some((word) => isWord(word) || isLongRun(word)))
  )
}
