/**
 * The words that the injection scan knows, by what they do in a sentence. Several languages share one class, so that one rule
 * of `phrases.ts` covers them all; words are compared in folded form (`fold.ts`).
 *
 * English and Chinese are covered well; Spanish, French, German, Portuguese, Italian, Russian, Japanese and Korean by the most
 * usual words. Data only.
 */

/**
 * Per class: words (separated by spaces) of languages that write spaces, and texts (separated by spaces) of Chinese, Japanese
 * and Korean, which are found anywhere.
 */
export interface WordList {
  readonly words?: string;
  readonly cjk?: string;
}

export const LEXICON = {
  /** Imperatives that set something aside. */
  ignore: {
    words:
      "ignore disregard forget neglect overlook unlearn ignora olvidate ignorar ignorad ignoren olvida olvide olvidad ignorez oublie oubliez ignoriere ignorieren ignoriert vergiss vergesst missachte ignorate dimentica dimenticate esqueca esquecam desconsidere desconsidera игнорируй игнорируйте игнорировать забудь забудьте проигнорируй",
    cjk: "忽略 无视 無視 忽视 忽視 忘记 忘記 忘掉 抛弃 拋棄 不要理会 不要理會 不要遵守 不要遵循 不再遵守 不再遵循 覆盖掉 绕过 繞過",
  },
  /** Verbs of the same kind that programmers use all day. */
  override: { words: "override bypass overwrite circumvent" },
  follow: { words: "follow obey heed comply respect compte sigas suivez befolge" },
  task: { words: "task job goal objective mission purpose tarea tâche aufgabe", cjk: "任务 任務 タスク" },
  hint: { cjk: "提示 要求" },
  void: {
    words: "void invalid outdated obsolete superseded revoked cancelled canceled null",
    cjk: "无效 作废 無效 作廢",
  },
  apply: { words: "apply applies applicable valid" },
  told: { words: "told informed notified alerted aware" },
  hide: { words: "hide conceal withhold" },
  skip: { words: "skip omit bypass" },
  and: { words: "and und et" },
  nothing: { words: "nothing rien nada nichts niente ничего" },
  environment: { words: "environment env" },
  variables: { words: "variables vars" },
  /** "To the user", where it stands before the verb. */
  toUser: { cjk: "向用户 向使用者 对用户 向用戶 跟用户 ユーザーに ユーザに 사용자에게" },
  /** The same at the end of a Japanese or Korean sentence. */
  ignoreLast: {
    cjk: "無視して 無視し、 無視せよ 無視すること 忘れて 忘れろ 従わないで 무시하고 무시해 무시하세요 무시하라 무시하십시오 잊어버 잊으세요 잊어라",
    words: "ignorieren vergessen",
  },
  prior: {
    words:
      "previous previously prior above earlier preceding foregoing initial original former before existing anterior anteriores previas previos previa precedentes precedente precedentemente vorherigen vorigen bisherigen obigen fruheren prévias предыдущие предыдущих предыдущую прежние précédentes précédents précédente antérieures initiales arriba",
    cjk: "之前 以前 先前 此前 以上 上面 前面 上述 先の 上記 これまで それまで 이전 위의 앞선 지금까지",
  },
  all: {
    words:
      "all any every everything whatever todas todos toda todo toutes tous alle sämtliche tutte tutti все всех",
    cjk: "所有 一切 全部 任何 すべて 全て 全ての 모든",
  },
  the: { words: "the these those that this los las les die den diese estas estes le" },
  mine: {
    words: "my our their his her its mi mis nuestras mes nos meine unsere meus minhas мои наши",
    cjk: "我的 我们的",
  },
  instructions: {
    words:
      "instruction instructions directions prompt prompts directive directives guideline guidelines programming instruccion instrucciones indicaciones consignes consigne directives anweisung anweisungen instruktionen vorgaben istruzioni instrucoes instruções инструкции инструкций инструкцию указания указаний",
    cjk: "指令 指示 提示词 提示詞 提示语 系统提示 系統提示 命令 プロンプト 지시 지침 프롬프트 명령 指导 指引 设定 設定",
  },
  rules: {
    words:
      "rules rule restrictions restriction constraints limitations policies policy safeguards guardrails safety filters training orders commands reglas normas restricciones regles règles regeln beschränkungen einschränkungen regole regras правила ограничения",
    cjk: "规则 規則 限制 约束 約束 准则 準則 安全策略 规定 ルール 制約 制限 규칙 제한",
  },
  your: {
    words: "your tu tus ton ta tes su sus votre vos deine deinen ihre ihren seus suas твои ваши свои",
    cjk: "你的 您的 あなたの 당신의",
  },
  you: {
    words:
      "you u assistant ai llm agent chatbot model claude chatgpt gpt copilot gemini bot vous usted du tu você вы ты ассистент",
    cjk: "你 您 助手 智能体 模型 あなた アシスタント 당신",
  },
  are: {
    words: "are re is act behave become pretend roleplay eres es bist sei êtes agis actua",
    cjk: "是 扮演 充当 成为 です",
  },
  now: {
    words: "now henceforth onwards onward hereafter ahora desormais jetzt agora теперь",
    cjk: "现在 現在 从现在 從現在 今后 今後 これから 이제부터 지금부터",
  },
  persona: {
    words:
      "dan jailbroken jailbreak unrestricted unfiltered uncensored evil root sudo superuser developer dev debug admin maintenance god unlimited unbound unaligned amoral stan aim devmode",
    cjk: "不受限制 没有限制 沒有限制 无限制 開發者模式 开发者模式 越狱 越獄 调试模式 管理员模式 制限のない 제한 없는 開発者モード",
  },
  mode: { words: "mode modo modus режим", cjk: "模式 モード 모드" },
  unbound: { words: "bound restricted limited constrained subject obligated required", cjk: "受限 受到限制" },
  longer: { words: "longer anymore more" },
  no: {
    words: "no none zero kein keine sin sans без aucune aucun ningun ninguna",
    cjk: "无需 無需 不需要 不用 不必",
  },
  not: {
    words: "not dont never cannot nao não nicht niemals jamais pas nunca не никогда neither",
    cjk: "不要 不得 不能 请勿 請勿 切勿 别 別 禁止 ないで 마세요 말고",
  },
  without: { words: "without sin sans ohne sem senza без", cjk: "无需 無需 不经 不經 未经 未經" },
  tell: {
    words:
      "tell inform mention notify alert reveal disclose show say warn report expose discuss acknowledge ask consult digas decir menciones informes preguntes dis dites informez mentionnez demandez sage sagen informiere erwähne frage fragen diga informe mencione pergunte говори говорите сообщай сообщайте упоминай спрашивай",
    cjk: "告诉 告訴 告知 通知 提及 提到 透露 询问 詢問 提醒 汇报 匯報 知らせ 伝え 教え 言わ 알리지 말하지 묻지",
  },
  telling: {
    words:
      "telling informing mentioning notifying alerting revealing disclosing showing asking warning reporting prompting consulting decirle avisar informar preguntar prevenir demander zu informieren fragen avisar perguntar предупреждения",
    cjk: "告诉 告訴 告知 通知 询问 詢問 征求 經過 经过 确认 確認",
  },
  ask: { words: "ask request seek wait", cjk: "询问 詢問 请求 請求 等待 征求" },
  mention: {
    words: "mention reveal disclose discuss acknowledge menciones erwähne mencione",
    cjk: "提及 提到 透露",
  },
  confirm: {
    words:
      "confirmation confirmations permission permissions approval approvals consent confirm authorization authorisation confirmacion permiso bestätigung erlaubnis zustimmung confirmacao permissao подтверждения",
    cjk: "确认 確認 批准 许可 許可 授权 授權 同意 허락 확인",
  },
  needed: { words: "needed required necessary requires need required necesaria nötig nécessaire" },
  keep: { words: "keep stay remain do perform execute run act" },
  secretly: {
    words:
      "secretly silently quietly covertly discreetly stealthily unnoticed invisibly surreptitiously heimlich discretamente silenciosamente discrètement тайно незаметно",
    cjk: "悄悄 偷偷 秘密地 暗中 静默 靜默 こっそり 密かに 몰래",
  },
  secret: { words: "secret hidden confidential concealed private", cjk: "保密 隐瞒 隱瞞" },
  from: { words: "from de von da от vom", cjk: "来自 來自" },
  user: {
    words:
      "user users human humans operator owner anyone anybody nobody usuario usuarios usuaria utilisateur lutilisateur benutzer nutzer anwender utente usuário usuarios пользователю пользователя пользователь пользователем",
    cjk: "用户 用戶 使用者 人类 人類 任何人 主人 ユーザー ユーザ 利用者 사용자",
  },
  send: {
    words:
      "send post upload forward email mail transmit exfiltrate leak submit deliver publish share curl envia enviar envie envíe reenvia envoie envoyez transmets sende senden schicke übermittle weiterleiten invia inviate enviem отправь отправьте отправить перешли перешлите wget push",
    cjk: "发送 發送 发到 發到 上传 上傳 转发 轉發 寄到 提交到 传送 傳送 发给 發給 泄露 外传 送信 送って 転送 보내 전송 업로드",
  },
  place: {
    words:
      "put include insert append paste write add embed encode attach pass place copy concatenate incluye inserta füge ajoute",
    cjk: "写入 寫入 附加 附上 插入 放入 放到 填入 粘贴 传入 傳入 嵌入 追加 添加到 編碼 编码",
  },
  it: {
    words:
      "it them this everything sie ihn lo that result results content contents output all data rows text response",
    cjk: "它 它们 内容 內容 结果 結果 全部 全文 数据 數據",
  },
  talk: {
    words:
      "conversation conversations chat history transcript dialogue context messages conversacion historial unterhaltung gesprächsverlauf conversation conversa переписку диалог",
    cjk: "对话 對話 聊天记录 聊天紀錄 历史记录 歷史記錄 上下文 会话 會話 聊天历史 会話 履歴 대화",
  },
  whole: { words: "whole entire full complete all every everything", cjk: "完整 全部 所有 整个 整個" },
  sensitive: {
    words:
      "credentials credential secrets passwords password passcode apikey apikeys tokens cookies passphrase creds contraseña contraseñas credenciales passwort passwörter zugangsdaten identifiants senha senhas credenciais пароль пароли password",
    cjk: "密码 密碼 口令 凭证 憑證 凭据 密钥 密鑰 令牌 私钥 私鑰 机密 機密 パスワード 認証情報 秘密鍵 비밀번호 자격 증명 API密钥 身份证 信用卡",
  },
  key: { words: "key keys schlüssel clave claves clé clés chave chaves ключ ключи", cjk: "密钥 密鑰 키를" },
  keyKind: {
    words:
      "api private ssh secret access encryption signing pgp gpg seed wallet privada privado privates ssh",
    cjk: "私有 私钥 API",
  },
  sensitiveFile: {
    words:
      "ssh rsa ed25519 dotenv kube env netrc npmrc pypirc kubeconfig passwd shadow keychain keyring htpasswd authorized_keys pgpass aws gnupg wallet keystore mcp",
    cjk: "私钥文件 配置文件 環境変数 环境变量 環境變數",
  },
  privateThing: {
    words: "private confidential internal secret integration",
    cjk: "私有 私人 内部 內部 机密",
  },
  repository: {
    words:
      "repository repositories repo repos tokens files notes documents emails messages table tables data",
    cjk: "仓库 倉庫 文件 数据 表",
  },
  read: {
    words:
      "read open cat fetch get retrieve collect gather find dump extract list query select load search access scan grab obtain look print export lies lese lee lea lisez lis прочитай прочитайте",
    cjk: "读取 讀取 获取 獲取 打开 打開 查找 收集 提取 搜索 查询 查詢 读出 列出 導出 导出 読み 取得 읽고 읽어",
  },
  call: {
    words:
      "call use invoke run execute trigger launch perform usa utilisez appelle rufe nutze verwende chame вызови используй",
    cjk: "调用 調用 使用 执行 執行 运行 運行 呼び出 実行 호출 실행",
  },
  tool: {
    words: "tool tools function functions plugin plugins werkzeug herramienta outil ferramenta инструмент",
    cjk: "工具 函数 函數 插件 ツール 도구",
  },
  before: { words: "before prior whenever antes avant bevor", cjk: "之前 以前 前に" },
  must: {
    words:
      "must always should shall mandatory need needs have required important immediately first urgent debes müssen musst devez deve должен",
    cjk: "必须 必須 务必 務必 立即 马上 首先 一定要",
  },
  reveal: {
    words:
      "reveal print output repeat show display disclose leak dump echo recite write return summarize translate tell revela muestra gib zeige affiche révèle mostre покажи выведи",
    cjk: "显示 顯示 输出 輸出 打印 重复 重複 透露 泄露 告诉我 复述 表示して 出力して 출력",
  },
  system: {
    words: "system initial hidden sistema système systeme internal original systemprompt developer",
    cjk: "系统 系統 システム 시스템 初始 内部",
  },
  approved: {
    words:
      "approved authorized authorised consented confirmed permitted allowed granted accepted preapproved whitelisted autorizado aprobado autorisé genehmigt autorisiert aprovado одобрил разрешил",
    cjk: "已批准 已授权 已授權 已同意 已经同意 已經同意 已确认 已確認 已经批准 已许可 承認済み 승인",
  },
  has: { words: "has have had already was were is been hat", cjk: "已 已经 已經" },
  action: {
    words:
      "tool tools action actions request requests call calls operation operations transfer transfers access command commands transaction step steps following change changes",
    cjk: "操作 请求 請求 工具 调用 调用 转账 步骤",
  },
  message: {
    words:
      "message notice notification announcement communication directive order instruction instructions update",
    cjk: "消息 通知 公告 指令 訊息",
  },
  vendor: {
    words:
      "anthropic openai google microsoft developer developers administrator admin system security team host platform",
    cjk: "管理员 管理員 系统 系統 开发者 開發者 安全团队 安全團隊 官方",
  },
  roleName: {
    words:
      "system assistant developer human user admin administrator instruction instructions sistema système anweisung prompt",
    cjk: "系统 系統 助手 用户 指令 系统提示 システム 시스템",
  },
  new: {
    words: "new updated revised real actual nuevas nouvelles neue novas новые",
    cjk: "新的 新指令 真正的 新しい 새로운",
  },
  url: {
    words: "url link query parameter parameters param params webhook endpoint address",
    cjk: "链接 連結 网址 網址 参数 參數 地址",
  },
  provide: {
    words: "provide enter give supply reply respond confirm verify type submit share",
    cjk: "提供 输入 輸入 回复 回覆 填写 填寫 验证 驗證",
  },
  urgent: {
    words:
      "urgent immediately suspended terminated locked deactivated expire expires asap attention critical deadline within",
    cjk: "紧急 緊急 立即 马上 立刻 停用 冻结 凍結",
  },
  if: { words: "if unless when falls si wenn se если", cjk: "如果 若" },
  /** Words of texts that talk about such attacks. */
  about: {
    words:
      "injection injections injected jailbreak jailbreaks jailbreaking attacker attackers attack attacks malicious adversarial adversary adversaries exploit exploits payload payloads phishing vulnerability vulnerabilities vulnerable mitigation mitigations owasp cve threat threats hijack hijacking redteam poisoning poisoned spoofing inyeccion inyección ataque angriff angriffe angreifer attaque attaquant атака инъекция tricked trick",
    cjk: "注入 攻击 攻擊 恶意 惡意 越狱攻击 漏洞 对抗 對抗 防御 防禦 攻撃 インジェクション 공격 인젝션 投毒 钓鱼",
  },
  /** Weaker ones: they count where the phrase is quoted as well. */
  example: {
    words:
      "example examples instance eg detect detects detected detection filter filters benchmark dataset classifier sample samples test tests testing phrase phrases string strings pattern patterns like say says beispiel ejemplo exemple quote quoted flagged",
    cjk: "例如 示例 比如 例子 检测 檢測 样本 測試 测试 诸如 类似",
  },
  /** Words next to which secrets stand: they only decide whether `redact.ts` looks closer. */
  secretHint: {
    words:
      "password passwd passphrase passcode pwd secret secrets token tokens apikey key keys accesskey secretkey privatekey accesstoken refreshtoken authtoken clientsecret accountkey sharedaccesskey sharedaccesssignature authorization bearer basic credential credentials begin dbpassword userpassword secretaccesskey",
  },
} as const satisfies Record<string, WordList>;

export type LexiconClass = keyof typeof LEXICON;
