/** Forms that Snowball does not know, without those that are as often another word: left, saw, rose, led, shot. */
const FORMS = `
arisen:arise ate:eat beaten:beat became:become began:begin begun:begin bent:bend blew:blow blown:blow bought:buy bred:breed
broke:break broken:break brought:bring built:build came:come caught:catch chose:choose chosen:choose crept:creep
dealt:deal drank:drink drawn:draw drew:draw driven:drive drove:drive dug:dig eaten:eat fallen:fall fell:fall felt:feel
fled:flee flew:fly flown:fly forbade:forbid forbidden:forbid forgave:forgive forgiven:forgive forgot:forget
forgotten:forget fought:fight found:find froze:freeze frozen:freeze gave:give given:give gone:go got:get gotten:get
grew:grow grown:grow heard:hear held:hold hid:hide hidden:hide hung:hang kept:keep knew:know known:know laid:lay
lost:lose made:make meant:mean met:meet mistaken:mistake overcame:overcome paid:pay proven:prove ran:run rang:ring
ridden:ride rode:ride said:say sang:sing sank:sink sat:sit sent:send shaken:shake shook:shake shown:show shrank:shrink
shrunk:shrink slept:sleep slid:slide sold:sell sought:seek sown:sow spent:spend spoken:speak stole:steal stolen:steal
stood:stand struck:strike stuck:stick sung:sing sunk:sink swam:swim swept:sweep sworn:swear swung:swing taken:take
taught:teach thought:think threw:throw thrown:throw told:tell took:take tore:tear torn:tear undergone:undergo
understood:understand undertaken:undertake undertook:undertake underwent:undergo upheld:uphold went:go withdrawn:withdraw
withdrew:withdraw withheld:withhold woke:wake woken:wake won:win wore:wear worn:wear written:write wrote:write
analyses:analysis appendices:appendix children:child crises:crisis criteria:criterion feet:foot geese:goose
hypotheses:hypothesis indices:index matrices:matrix men:man mice:mouse phenomena:phenomenon syntheses:synthesis
teeth:tooth vertices:vertex women:woman`

const regular = new Map(
  FORMS.match(/\S+/g)?.map((pair): [string, string] => {
    const [form = '', word = ''] = pair.split(':')
    return [form, word]
  }),
)

export const regularEnglish = (word: string): string => regular.get(word) ?? word
