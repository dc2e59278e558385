// What cards share whose data is the answer to one question: the answer, why there is none, and that a card in sight is asked for
// first. A card shows `trouble` by Frame.
import { AHEAD, IN_SIGHT, LiveQuery, type Trouble } from '../../public';

export class Asked<Answer> {
  protected readonly query = new LiveQuery<Answer>();

  get trouble(): Trouble | null {
    return this.query.trouble;
  }
  get isAnswered(): boolean {
    return this.query.answer !== undefined;
  }
  tryNow(): void {
    this.query.tryNow();
  }
  set inSight(isInSight: boolean) {
    this.query.setPriority(isInSight ? IN_SIGHT : AHEAD);
  }
}
